# Turns the option files of opt/ and configuration files (a personality and fragments) into config.h
# (kind=h), make variables (kind=mk), or a list of files of the options: their system calls
# (kind=def), and their fields of structures of the core, such as struct proc (kind=proc).
#
# An option file, opt/FOLDER/option:
#   option NAME [off]        -> CONFIG_NAME 1, unless "off"    make compiles the folder if it is set
#   needs NAME...            the options that it depends on
#
# A configuration file:
#   without options          -> takes back every option        see conf/teach
#   personality NAME         -> CONFIG_PERSONALITY_NAME 1,     exactly one
#                               CONFIG_PERSONALITY "NAME"
#   pseudo-device NAME N     -> CONFIG_NAME N                  OpenBSD
#   option[s] NAME[=V]       -> CONFIG_NAME V (1)              all BSDs
#   makeoptions NAME=V       -> MAKEOPTION_NAME V              NetBSD
#   CONFIG_NAME=y|N          -> CONFIG_NAME 1|N                Linux
#   CONFIG_NAME=n            -> undefines a name that an earlier file defined
#
# The compiler inserts coverage hooks when the personality's own option for them is set (END).
function define(name, value) {
    if (kind == "h") print "#define " name " " value
    else if (kind == "mk") print name " := " value
    set[name] = value
}
function undefine(name) {
    if (kind == "h") print "#undef " name
    else if (kind == "mk") print name " :="
    delete set[name]
}
function fail(line) {
    print line > "/dev/stderr"
    failed = 1
    exit 1
}
{ sub(/#.*/, "") }
NF == 0 { next }
FILENAME ~ /^opt\// && $1 == "option" && NF <= 3 {
    folder[options[++count] = $2] = substr(FILENAME, 1, length(FILENAME) - length("/option"))
    if ($3 != "off") define("CONFIG_" $2, 1)
    next
}
FILENAME ~ /^opt\// && $1 == "needs" {
    for (i = 2; i <= NF; i++) needs[options[count]] = needs[options[count]] " " $i
    next
}
$1 == "without" && $2 == "options" {
    for (i = 1; i <= count; i++) undefine("CONFIG_" options[i])
    next
}
$1 == "personality" {
    who = $2
    define("CONFIG_PERSONALITY_" toupper(who), 1)
    define("CONFIG_PERSONALITY", "\"" who "\"")
    next
}
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
{ fail(FILENAME ":" FNR ": not a configuration line: " $0) }
# Options that are set and have a file of this name: #include lines if this is the kind of list that
# is wanted; in config.h the macro, which changes whenever the list does.
function list_files(list, basename, macro,    i, file, line, names) {
    for (i = 1; i <= count; i++) {
        file = folder[options[i]] "/" basename
        if (!set["CONFIG_" options[i]] || (getline line < file) < 0) continue
        close(file)
        names = names (names ? "_" : "") options[i]
        if (kind == list) print "#include \"" file "\""
    }
    if (kind == "h") print "#define CONFIG_" macro (names ? " " : "") names
}
function list_options(    i, j, n, name, words) {
    for (i = 1; i <= count; i++) {
        name = options[i]
        if (!set["CONFIG_" name]) continue
        n = split(needs[name], words, " ")
        for (j = 1; j <= n; j++)
            if (!set["CONFIG_" words[j]]) fail("option " name " needs " words[j])
        folders = folders " " folder[name]
    }
    if (kind == "mk") print "OPTIONS :=" folders "\nPERSONALITY := " who
    list_files("def", "syscalls.def", "SYSCALLS")
    n = split("proc thread page inode inode_ops super vm vma tmpfs_node tmpfs_calls tmpfs_ops", words, " ")
    for (i = 1; i <= n; i++) list_files(words[i], words[i] ".def", toupper(words[i]) "_FIELDS")
}
END {
    if (failed) exit 1
    cover = who == "netbsd" ? set["MAKEOPTION_KCOV"] : who == "freebsd" ? set["CONFIG_COVERAGE"] : set["CONFIG_KCOV"]
    if (cover) define("CONFIG_COVERAGE_HOOKS", 1)
    if (!who) fail(FILENAME ": no personality line")
    list_options()
}
