// A hall of marble and wooden columns in dim, warm light, with fog; the camera walks along it with the clock.
#version 3.7;
global_settings { assumed_gamma 1.0 max_trace_level 5 }
camera { location <0.8 * sin(clock), 1.6, -9 + 3 * clock> look_at <0.4, 1.9, 6> angle 62 }
light_source { <0, 4.5, 0> color rgb <0.9, 0.75, 0.5> fade_distance 4 fade_power 2 }
light_source { <2, 4, 12> color rgb <0.5, 0.6, 0.9> fade_distance 5 fade_power 2 }
fog { distance 30 color rgb <0.12, 0.13, 0.16> }
plane { y, 0 pigment { hexagon rgb <0.5, 0.45, 0.4>, rgb <0.3, 0.32, 0.36>, rgb <0.6, 0.55, 0.4> } finish { reflection 0.08 } }
plane { -y, -5 pigment { bozo color_map { [0 rgb <0.35, 0.3, 0.25>] [1 rgb <0.5, 0.45, 0.4>] } scale 2 } }
#declare I = 0;
#while (I < 9)
  #declare Side = -1;
  #while (Side < 2)
    cylinder {
      <2.6 * Side, 0, 2.4 * I - 6>, <2.6 * Side, 5, 2.4 * I - 6>, 0.45
      #if (mod(I + Side, 3) = 0)
        pigment { wood turbulence 0.2 scale 0.25 color_map { [0 rgb <0.5, 0.3, 0.15>] [1 rgb <0.25, 0.12, 0.05>] } }
      #else
        pigment { marble turbulence 0.9 scale 0.7 color_map { [0 rgb <0.75, 0.72, 0.7>] [1 rgb <0.25, 0.3, 0.3>] } }
      #end
      finish { phong 0.4 }
    }
    #declare Side = Side + 2;
  #end
  #declare I = I + 1;
#end
