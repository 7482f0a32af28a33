#!/bin/sh
# The trials of an experiment by GNU parallel: as many processes as there are processors, here or on
# other machines that see the folder. Run it again to resume.
#
#   kcovbox experiment plan lost.yaml
#   ./parallel.sh lost.experiment 8
#   ./parallel.sh lost.experiment 100 --sshloginfile machines --workdir "$PWD"
#
# KCOVBOX is the command, if it is another than npx kcovbox.
set -eu
folder=$1
shards=$2
shift 2
seq 0 $((shards - 1)) |
    parallel --joblog "$folder.joblog" --resume-failed "$@" \
        "${KCOVBOX:-npx kcovbox} experiment shard $folder --of $shards --index {}"
