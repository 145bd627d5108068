// Glossy and matt balls on a chequered floor under two lights, seen from a camera that moves with the clock.
#version 3.7;
global_settings { assumed_gamma 1.0 max_trace_level 6 }
camera { location <6 * sin(clock), 2.6, -7 * cos(clock)> look_at <0, 0.7, 0> angle 48 }
light_source { <6, 9, -6> color rgb 1 area_light <1, 0, 0>, <0, 0, 1>, 3, 3 adaptive 1 }
light_source { <-8, 5, -2> color rgb <0.3, 0.32, 0.45> }
sky_sphere { pigment { gradient y color_map { [0 rgb <0.75, 0.82, 0.9>] [1 rgb <0.12, 0.28, 0.62>] } } }
plane { y, 0 pigment { checker rgb <0.85, 0.82, 0.75>, rgb <0.35, 0.12, 0.1> } finish { reflection 0.12 } }
#declare Random = seed(7);
#declare I = 0;
#while (I < 60)
  #declare Radius = 0.12 + 0.38 * rand(Random);
  sphere {
    <8 * rand(Random) - 4, Radius, 8 * rand(Random) - 4>, Radius
    #if (mod(I, 3) = 0)
      pigment { granite scale 0.3 color_map { [0 rgb <rand(Random), rand(Random), rand(Random)>] [1 rgb 0.9] } }
    #else
      pigment { color rgb <rand(Random), rand(Random), rand(Random)> }
    #end
    finish { phong 0.7 phong_size 60 reflection 0.25 * rand(Random) }
  }
  #declare I = I + 1;
#end
