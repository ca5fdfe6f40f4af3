# The step of action.yml: PATHS, OPTIONS, SINCE and FAIL as they are described there.
set -u
mapfile -t paths < <(grep -v '^\s*$' <<< "$PATHS")
mapfile -t options < <(grep -v '^\s*$' <<< "$OPTIONS")
[ -z "$SINCE" ] || options+=("--since=$SINCE")
edit-gec correct --check --format github ${options[@]+"${options[@]}"} -- "${paths[@]}"
status=$?
[ "$FAIL" = true ] || [ $status -ne 1 ] || status=0
exit $status
