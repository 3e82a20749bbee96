#!/bin/sh
# SPDX-License-Identifier: MIT
#
# expect_status.sh NAME STATUS COMMAND...: "ok NAME" if the command ends with this status.
name=$1
wanted=$2
shift 2
"$@"
got=$?
if [ "$got" -eq "$wanted" ]; then
    echo "ok $name"
else
    echo "FAIL $name: exit status $got, not $wanted"
    exit 1
fi
