# Numbers with units (src/base/units.rs). A quoted space is the space between number and unit.
unit-ns = {" "}ns
unit-us = {" "}µs
unit-ms = {" "}ms
unit-s = {" "}s
unit-min = {" "}min
unit-h = {" "}h
unit-d = {" "}d
unit-gap = {" "}
unit-percent = {" "}%
unit-unknown = unknown
list-and = { $first } and { $last }
