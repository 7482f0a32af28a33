# Turns configuration files (a personality and fragments) into config.h (kind=h) or make variables (kind=mk).
#
#   personality NAME         -> CONFIG_PERSONALITY_NAME        exactly one
#   pseudo-device NAME N     -> CONFIG_NAME N                  OpenBSD
#   option[s] NAME[=V]       -> CONFIG_NAME V (1)              all BSDs
#   makeoptions NAME=V       -> MAKEOPTION_NAME V              NetBSD
#   CONFIG_NAME=y|N          -> CONFIG_NAME 1|N                Linux
#   CONFIG_NAME=n            -> takes back what an earlier file defined
#
# The compiler's coverage hooks are compiled in when the personality's own line says so.
function define(name, value) {
    if (kind == "h") print "#define " name " " value
    else print name " := " value
    set[name] = value
}
function undefine(name) {
    if (kind == "h") print "#undef " name
    else print name " :="
    delete set[name]
}
{ sub(/#.*/, "") }
NF == 0 { next }
$1 == "personality" { who = $2; define("CONFIG_PERSONALITY_" toupper($2), 1); next }
$1 == "pseudo-device" { define("CONFIG_" toupper($2), NF > 2 ? $3 : 1); next }
$1 == "option" || $1 == "options" || $1 == "makeoptions" {
    prefix = $1 == "makeoptions" ? "MAKEOPTION_" : "CONFIG_"
    n = split($2, part, "=")
    define(prefix part[1], n > 1 ? part[2] : 1)
    next
}
/^CONFIG_[A-Z0-9_]+=/ {
    split($1, part, "=")
    if (part[2] != "n") define(part[1], part[2] == "y" ? 1 : part[2])
    else if (part[1] in set) undefine(part[1])
    next
}
{ print FILENAME ":" FNR ": not a configuration line: " $0 > "/dev/stderr"; exit 1 }
END {
    cover = who == "netbsd" ? set["MAKEOPTION_KCOV"] : who == "freebsd" ? set["CONFIG_COVERAGE"] : set["CONFIG_KCOV"]
    if (cover) define("CONFIG_COVERAGE_HOOKS", 1)
    if (!who) { print FILENAME ": no personality line" > "/dev/stderr"; exit 1 }
}
