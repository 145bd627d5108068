// Hills of fractal noise with grass, rock and snow beneath clouds; the camera flies with the clock.
#version 3.7;
global_settings { assumed_gamma 1.0 }
camera { location <0.3 * clock, 0.42, -1.1 + 0.5 * clock> look_at <0.2, 0.12, 1> angle 62 }
light_source { <-40, 30, -20> color rgb <1, 0.93, 0.8> * 1.2 }
sky_sphere {
  pigment { bozo turbulence 0.7 octaves 7 scale <0.6, 0.2, 0.4>
    color_map { [0.4 rgb <0.3, 0.48, 0.78>] [0.65 rgb <0.8, 0.83, 0.88>] [1 rgb 0.97] } }
}
height_field {
  function 400, 400 { pigment { wrinkles turbulence 0.3 octaves 8 scale 0.28 translate <3, 1, 2> } }
  smooth translate <-0.5, 0, -0.2> scale <3.2, 0.34, 3.2>
  texture {
    gradient y turbulence 0.12 scale 0.36
    texture_map {
      [0.25 pigment { granite scale 0.04 color_map { [0 rgb <0.1, 0.26, 0.06>] [1 rgb <0.36, 0.45, 0.14>] } }]
      [0.55 pigment { granite scale 0.07 color_map { [0 rgb <0.3, 0.25, 0.2>] [1 rgb <0.5, 0.42, 0.36>] } }]
      [0.8 pigment { color rgb 0.95 } ]
    }
  }
}
plane { y, 0.06 pigment { color rgb <0.08, 0.2, 0.3> } normal { bumps 0.15 scale 0.02 } finish { reflection 0.5 } }
