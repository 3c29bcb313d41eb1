# Indents the formulas of a header's comments, so that Doxygen prints them as they are. The members of the
# built-in semirings are left out, because all have the same; their header is the one that users include.
/^ *\/\/\/ @code/ { code = 1 }
!code { sub(/^ *\/\/\/  +/, "&    ") }
/^ *\/\/\/ @endcode/ { code = 0 }
FILENAME ~ /semirings\// && /^};/ { print "/// @endcond" }
FILENAME ~ /semirings\// && /^template/ { print "/// @headerfile rig.hpp rig/rig.hpp" }
{ print }
FILENAME ~ /semirings\// && /^struct .*\{$/ { print "/// @cond" }
