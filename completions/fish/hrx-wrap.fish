# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_hrx_wrap_global_optspecs
    string join \n p/profile programs= commands= manifests= sort= top= unit= csv= markdown= interval= samples= driver= proc= sys= s/split verbose-by= max-unattributed= packed-pattern= strict o/out= force log= report= json= html= timeline= timeline-max= t/timeout= k/kill-after= signal= preserve-status stdio= echo= stamp= progress leave label= env= h/help V/version
end

function __fish_hrx_wrap_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_hrx_wrap_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_hrx_wrap_using_subcommand
    set -l cmd (__fish_hrx_wrap_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l programs -d 'Trace only programs of N commands (sets GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS)' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l commands -d 'Trace only commands A to B of a list, both included (sets GGML_HRX_DEBUG_SERIAL_START_COMMAND and _END_COMMAND)' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l manifests -d 'Kernel manifests: a folder of manifests or of folders, or one file; may be given again' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l sort -d 'The order of a table\'s rows' -r -f -a "total\t'Time on the device in all'
count\t'Dispatches'
mean\t'Mean device time'
median\t'Median device time'
p95\t'95th percentile of the device time'
max\t'Longest device time'
launch\t'Mean launch'
name\t'Name'"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l top -d 'Rows of a table; the others are summed up' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l unit -d 'The unit of a dispatch\'s times' -r -f -a "ns\t'Nanoseconds'
us\t'Microseconds'
ms\t'Milliseconds'"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l csv -d 'The tables as CSV in this file (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l markdown -d 'The tables as Markdown in this file (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l interval -d 'From one sample of the memory to the next, 1ms or more' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l samples -d 'Keep the samples in this file, a row each; with --out they are in gtt.tsv' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l driver -d 'The DRM driver whose clients are counted; any = all' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l proc -d 'The /proc to read: in a container, the host\'s, where it is mounted' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l sys -d 'The /sys to read' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l verbose-by -d 'How llama.cpp is asked for its buffer lines; the default is both: the variable, and -v for llama-bench alone' -r -f -a "env\t'LLAMA_ARG_LOG_VERBOSITY=4 in the environment'
arg\t'-v behind the arguments'
none\t'Not at all'"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l max-unattributed -d 'What may stay unattributed before the report warns, percent of the peak; the default is 20' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l packed-pattern -d 'Lines of the host-weight trace are those that fit this pattern' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -s o -l out -d 'Keep the run in this folder: run.json trace.log gtt.tsv report.txt report.json report.html timeline.pftrace' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l log -d 'Keep the time-stamped trace of stderr in this file' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l report -d 'The text report goes to this file instead of stderr (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l json -d 'The report as JSON in this file (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l html -d 'The report as a page in this file: one file, no network (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l timeline -d 'The timeline in this file, for ui.perfetto.dev; FILE.json: as Chrome trace JSON' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l timeline-max -d 'Spans of the timeline at the most; of a longer run whole programs from its start, the slowest dispatches and the last ones are drawn, and the timeline says so' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -s t -l timeout -d 'End the target after this time: 90, 90s, 15m, 1h30m; 0 = never' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -s k -l kill-after -d 'From the first signal to SIGKILL' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l signal -d 'The signal that a timeout sends first' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l stdio -d 'What the target\'s stderr is' -r -f -a "pipe\t'A pipe'
pty\t'A terminal of its own, with raw output'
auto\t'A terminal when our stderr is one, else a pipe'"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l echo -d 'What of the target\'s stderr passes through to ours' -r -f -a "rest\t'All but lines of the serial trace'
all\t'Everything'
none\t'Nothing'"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l stamp -d 'Where lines get their time; auto with --profile, else read' -r -f -a "auto\t'Where the target prints, if it can; else at read'
source\t'In the target\'s process, when it prints: an object is preloaded'
read\t'By hrx-wrap, when it got the bytes: nothing is preloaded'"
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l label -d 'A name for the run, kept in run.json' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l env -d 'Set a variable for the target; may be given again' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -s p -l profile -d 'Profile the dispatches: sets GGML_HRX_DEBUG_SERIAL_EXECUTION=1 for the target'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -s s -l split -d 'Split the GPU memory: sets GGML_HRX_HOST_WEIGHT_TRACE=1 and LLAMA_ARG_LOG_VERBOSITY=4, appends -v to llama-bench'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l strict -d 'Fail when too much is unattributed, when that is unknown or negative, or when -p traced no dispatch'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l force -d 'With --out: replace a run of ours that is there (nothing else is ever replaced)'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l preserve-status -d 'After a timeout, exit with the target\'s status instead of 124'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l progress -d 'One status line a second on a terminal: elapsed time, lines, dispatches, GTT now and at its peak'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -l leave -d 'Leave processes alone that outlive the target; the default is to end them'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -s V -l version -d 'Print version'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -a "run" -d 'Supervise one command'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -a "parse" -d 'The same report from what a run left: a run folder, a kept trace, or `-` for standard input'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -a "compare" -d 'Two or more runs side by side: where the time went up or down, and whether that is more than noise'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -a "mem" -d 'The GPU memory that a running process tree holds now'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -a "kernels" -d 'The kernel catalogue: id to family and name, and back'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -a "demo" -d 'A built-in target, no GPU or model needed: every report from one command'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -a "self-test" -d 'Checks this installed program without a device, in seconds'
complete -c hrx-wrap -n "__fish_hrx_wrap_needs_command" -a "demo-target" -d 'The built-in target of the demo'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l programs -d 'Trace only programs of N commands (sets GGML_HRX_DEBUG_SERIAL_PROGRAM_COMMANDS)' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l commands -d 'Trace only commands A to B of a list, both included (sets GGML_HRX_DEBUG_SERIAL_START_COMMAND and _END_COMMAND)' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l manifests -d 'Kernel manifests: a folder of manifests or of folders, or one file; may be given again' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l sort -d 'The order of a table\'s rows' -r -f -a "total\t'Time on the device in all'
count\t'Dispatches'
mean\t'Mean device time'
median\t'Median device time'
p95\t'95th percentile of the device time'
max\t'Longest device time'
launch\t'Mean launch'
name\t'Name'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l top -d 'Rows of a table; the others are summed up' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l unit -d 'The unit of a dispatch\'s times' -r -f -a "ns\t'Nanoseconds'
us\t'Microseconds'
ms\t'Milliseconds'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l csv -d 'The tables as CSV in this file (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l markdown -d 'The tables as Markdown in this file (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l interval -d 'From one sample of the memory to the next, 1ms or more' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l samples -d 'Keep the samples in this file, a row each; with --out they are in gtt.tsv' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l driver -d 'The DRM driver whose clients are counted; any = all' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l proc -d 'The /proc to read: in a container, the host\'s, where it is mounted' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l sys -d 'The /sys to read' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l verbose-by -d 'How llama.cpp is asked for its buffer lines; the default is both: the variable, and -v for llama-bench alone' -r -f -a "env\t'LLAMA_ARG_LOG_VERBOSITY=4 in the environment'
arg\t'-v behind the arguments'
none\t'Not at all'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l max-unattributed -d 'What may stay unattributed before the report warns, percent of the peak; the default is 20' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l packed-pattern -d 'Lines of the host-weight trace are those that fit this pattern' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -s o -l out -d 'Keep the run in this folder: run.json trace.log gtt.tsv report.txt report.json report.html timeline.pftrace' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l log -d 'Keep the time-stamped trace of stderr in this file' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l report -d 'The text report goes to this file instead of stderr (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l json -d 'The report as JSON in this file (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l html -d 'The report as a page in this file: one file, no network (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l timeline -d 'The timeline in this file, for ui.perfetto.dev; FILE.json: as Chrome trace JSON' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l timeline-max -d 'Spans of the timeline at the most; of a longer run whole programs from its start, the slowest dispatches and the last ones are drawn, and the timeline says so' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -s t -l timeout -d 'End the target after this time: 90, 90s, 15m, 1h30m; 0 = never' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -s k -l kill-after -d 'From the first signal to SIGKILL' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l signal -d 'The signal that a timeout sends first' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l stdio -d 'What the target\'s stderr is' -r -f -a "pipe\t'A pipe'
pty\t'A terminal of its own, with raw output'
auto\t'A terminal when our stderr is one, else a pipe'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l echo -d 'What of the target\'s stderr passes through to ours' -r -f -a "rest\t'All but lines of the serial trace'
all\t'Everything'
none\t'Nothing'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l stamp -d 'Where lines get their time; auto with --profile, else read' -r -f -a "auto\t'Where the target prints, if it can; else at read'
source\t'In the target\'s process, when it prints: an object is preloaded'
read\t'By hrx-wrap, when it got the bytes: nothing is preloaded'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l label -d 'A name for the run, kept in run.json' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l env -d 'Set a variable for the target; may be given again' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -s p -l profile -d 'Profile the dispatches: sets GGML_HRX_DEBUG_SERIAL_EXECUTION=1 for the target'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -s s -l split -d 'Split the GPU memory: sets GGML_HRX_HOST_WEIGHT_TRACE=1 and LLAMA_ARG_LOG_VERBOSITY=4, appends -v to llama-bench'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l strict -d 'Fail when too much is unattributed, when that is unknown or negative, or when -p traced no dispatch'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l force -d 'With --out: replace a run of ours that is there (nothing else is ever replaced)'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l preserve-status -d 'After a timeout, exit with the target\'s status instead of 124'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l progress -d 'One status line a second on a terminal: elapsed time, lines, dispatches, GTT now and at its peak'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -l leave -d 'Leave processes alone that outlive the target; the default is to end them'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l samples -d 'Samples of the memory: a gtt.tsv, or a list of \'TIME KIB\' pairs, one a line' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l report -d 'The text report goes to this file instead of stdout' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l json -d 'The report as JSON in this file (- = stdout, then without the text)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l manifests -d 'Kernel manifests: a folder of manifests or of folders, or one file; may be given again' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l sort -d 'The order of a table\'s rows' -r -f -a "total\t'Time on the device in all'
count\t'Dispatches'
mean\t'Mean device time'
median\t'Median device time'
p95\t'95th percentile of the device time'
max\t'Longest device time'
launch\t'Mean launch'
name\t'Name'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l top -d 'Rows of a table; the others are summed up' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l unit -d 'The unit of a dispatch\'s times' -r -f -a "ns\t'Nanoseconds'
us\t'Microseconds'
ms\t'Milliseconds'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l csv -d 'The tables as CSV in this file (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l markdown -d 'The tables as Markdown in this file (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l html -d 'The report as a page in this file: one file, no network (- = stdout)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l timeline -d 'The timeline in this file, for ui.perfetto.dev; FILE.json: as Chrome trace JSON' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l timeline-max -d 'Spans of the timeline at the most; of a longer run whole programs from its start, the slowest dispatches and the last ones are drawn, and the timeline says so' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l max-unattributed -d 'What may stay unattributed before the report warns, percent of the peak; the default is 20' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l packed-pattern -d 'Lines of the host-weight trace are those that fit this pattern' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -l strict -d 'Fail when too much is unattributed, when that is unknown or negative, or when -p traced no dispatch'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand parse" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l vs -d 'The runs before it are the base\'s, those behind it the new ones: medians, spread and a verdict a row' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l label -d 'Given twice: the runs with the first label are the base\'s, those with the second the new ones' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l threshold -d 'A change of more than this is a regression, percent' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l manifests -d 'Kernel manifests, as for parse; may be given again' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l top -d 'Rows a table' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l unit -d 'The unit of kernels\' times' -r -f -a "ns\t'Nanoseconds'
us\t'Microseconds'
ms\t'Milliseconds'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l json -d 'The comparison as JSON in this file (- = stdout, then without the text)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l markdown -d 'The comparison as Markdown in this file (- = stdout, then without the text)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l html -d 'The comparison as a page in this file (- = stdout, then without the text)' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -l force -d 'Compare what is not comparable; the report still says why it is not'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand compare" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand mem" -l pid -d 'A process, with everything below it; may be given again' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand mem" -l watch -d 'Look again after each such time, 1ms or more, until the processes have ended' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand mem" -l driver -d 'The DRM driver whose clients are counted; any = all' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand mem" -l proc -d 'The /proc to read: in a container, the host\'s, where it is mounted' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand mem" -l sys -d 'The /sys to read' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand mem" -l json -d 'As JSON; with --watch, one line a look'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand mem" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand kernels" -l manifests -d 'Kernel manifests: a folder of them, a folder of folders with a manifest.json, or one file; may be given again' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand kernels" -l json -d 'As JSON'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand kernels" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo" -s o -l out -d 'Keep the run in this folder; a new one in the temporary folder when left out' -r -f -a "(__fish_complete_directories)"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo" -l tokens -d 'Decode tokens that the built-in target makes' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo" -l force -d 'Replace the run in --out; nothing but a run of hrx-wrap is replaced'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo" -s h -l help -d 'Print help'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand self-test" -s h -l help -d 'Print help'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l tokens -d 'Tokens to decode, one command program each' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l commands -d 'Commands of the decode program' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l prefill-commands -d 'Commands of the prefill program; 0 = no prefill' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l init-commands -d 'Commands of the init list of every program' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l serial -d 'Write the serial trace: always, never, or as the environment says' -r -f -a "on\t'Always'
off\t'Never'
env\t'When `GGML_HRX_DEBUG_SERIAL_EXECUTION` says so'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l scale -d 'Multiply every device time' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l slow -d 'A kernel (by its name) takes so many percent longer on the device' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l device-us -d 'Every kernel takes N µs on the device; 0 = no wait at all' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l launch-us -d 'A launch takes N µs on the host' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l load-ms -d 'Loading the model takes N ms' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l proc -d 'Enter a GPU client with the memory of a recorded run into DIR, a /proc made for it' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l lines -d 'Write N numbered lines as fast as possible, one write each' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l line-bytes -d 'Bytes of such a line, newline included' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l numbered -d 'Write N short numbered lines, one write each' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l every-us -d 'One such line every N µs; 0 = flat out' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l numbered-log -d 'Append each number to FILE once its line is written' -r -F
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l die-in-dispatch -d 'Die in the K-th dispatch of the run, counted from 1' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l die-at -d 'Where in that dispatch; without the serial trace always on the device' -r -f -a "launch\t'After the line that begins the dispatch: it is being launched'
device\t'Half of the device\'s time after the launch, while the target waits for it'
line\t'Inside the line that ends the launch: its head is out and its newline is not'"
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l die-signal -d 'The signal to die of (default KILL); without --die-in-dispatch: at the end of the run' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l fail-sync -d 'Fail the device wait of the K-th dispatch, counted from 1, and exit with 1' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l garble-every -d 'Put a logger line inside every K-th trace line, between its first and its second write' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l seed -d 'Seed of the random moments' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l long-line -d 'Write a line of N bytes at the end' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l sleep-ms -d 'Sleep N ms at the end' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l exit-code -d 'Exit status' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l fork -d 'Start N processes that print a line and sleep' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l grandchild-ms -d 'How long they live, ms' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l grandchild -d 'Be the grandchild of this number' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l exit-after-signals -d 'Exit once N signals came, and not before unless --sleep-ms is over' -r
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l warm-up -d 'Run each program once more before it is measured, with slow launches, as a first run compiles'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l spin -d 'Wait for the device by spinning alone, so that the known times are exact'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l no-load -d 'Print no load lines'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l garble -d 'A second thread writes logger lines straight to stderr at random moments'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l own-clock -d 'End each trace line and each short numbered line with ` clock=<CLOCK_MONOTONIC ns>`, read just before its first write'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l nul -d 'Write a line with a NUL byte at the end'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l no-newline -d 'Write a last line without a newline'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l setsid -d 'Give each of them a session of its own'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l hold -d 'Start a silent process that keeps stderr open and outlives the target'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l silent -d 'As a grandchild: print nothing'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l ignore-term -d 'Ignore SIGTERM'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l ignore-int -d 'Ignore SIGINT'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l ready -d 'Print `ready` on stdout once everything is set up and before the work'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -l count-signals -d 'Catch signals and print `signal NAME count K` on stdout for each; prints `ready` first'
complete -c hrx-wrap -n "__fish_hrx_wrap_using_subcommand demo-target" -s h -l help -d 'Print help (see more with \'--help\')'
