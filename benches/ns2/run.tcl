# One scenario of the plain format (rate, window, node, movement, flow, udp lines) in ns-2.35; prints one JSON line.
#
#   ns run.tcl SCENARIO.txt [-seed N] [-duration S] [-transport newreno|reno|sack|vegas|udp]
#              [-warmup S] [-window W] [-trace FILE] [-stats 1]
#
# -trace FILE  wireless trace in the old format, with agent, router and MAC level (otherwise all levels are off)
# -stats 1     adds the sender counters of every TCP flow
#
# Goodput is the payload by which the highest ACK advances from the warm-up (a tenth of the duration) to the end; for UDP,
# it is the bytes received over the life of the flow.

proc usage {msg} { puts stderr "run.tcl: $msg"; exit 2 }

# ---------------------------------------------------------------- arguments
set opt(seed) 1; set opt(duration) 300.0; set opt(transport) ""; set opt(warmup) ""
set opt(trace) ""; set opt(stats) 0; set opt(window) ""
if {$argc < 1} { usage "no scenario file" }
set opt(file) [lindex $argv 0]
foreach {k v} [lrange $argv 1 end] {
    set k [string range $k 1 end]
    if {![info exists opt($k)]} { usage "unknown option -$k" }
    set opt($k) $v
}
set duration [expr double($opt(duration))]
set warmup [expr {$opt(warmup) eq "" ? 0.1 * $duration : double($opt(warmup))}]

# ---------------------------------------------------------------- scenario
set rate 2; set window 64; set movement ""; set nodes {}; set flows {}; set udps {}
set f [open $opt(file)]
while {[gets $f line] >= 0} {
    regsub {#.*} $line "" line
    set w [regexp -all -inline {\S+} $line]
    switch -- [lindex $w 0] {
        rate   { set rate   [lindex $w 1] }
        window { set window [lindex $w 1] }
        node   { lappend nodes [lrange $w 1 2] }
        movement {
            # Start positions, to count the nodes; below, the file itself places them.
            set movement [file join [file dirname $opt(file)] [lindex $w 1]]
            set m [open $movement]
            foreach {all x} [regexp -all -inline {X_ ([0-9.]+)} [read $m]] { lappend nodes [list $x 0.0] }
            close $m
        }
        flow   { lappend flows [lrange $w 1 end] }
        udp    { lappend udps  [lrange $w 1 end] }
        ""     { }
        default { usage "unknown statement: $line" }
    }
}
close $f
if {$opt(window) ne ""} { set window $opt(window) }
if {$opt(transport) eq ""} { set opt(transport) [expr {[llength $udps] ? "udp" : "newreno"}] }

# ---------------------------------------------------------------- settings
# 250 m of reception, 550 m of carrier sense, capture at 10 dB.
Phy/WirelessPhy set CPThresh_ 10.0
Phy/WirelessPhy set CSThresh_ 1.559e-11
Phy/WirelessPhy set RXThresh_ 3.652e-10
Phy/WirelessPhy set Pt_ 0.28183815
Phy/WirelessPhy set freq_ 914e+6
Phy/WirelessPhy set L_ 1.0
Mac/802_11 set dataRate_  ${rate}e6
Mac/802_11 set basicRate_ 1e6
Mac/802_11 set RTSThreshold_ 0
Agent/TCP set packetSize_ 1460
# Set on the class: ns-2 takes the initial ssthresh from the class's value.
Agent/TCP set window_ $window

$defaultRNG seed $opt(seed)
set ns [new Simulator]
set tfd [open [expr {$opt(trace) eq "" ? "/dev/null" : $opt(trace)}] w]
$ns trace-all $tfd

set xmax 1.0; set ymax 1.0
if {$movement ne ""} {
    set m [open $movement]
    set text [read $m]
    close $m
    # ns-2 refuses a destination outside the field.
    foreach {all x y} [regexp -all -inline {setdest ([0-9.]+) ([0-9.]+)} $text] { lappend ends $x $y }
    foreach {all x} [regexp -all -inline {[XY]_ ([0-9.]+)} $text] { lappend ends $x $x }
    set xmax [tcl::mathfunc::max {*}$ends]; set ymax $xmax
}
foreach n $nodes {
    foreach {x y} $n break
    if {$x > $xmax} { set xmax $x }
    if {$y > $ymax} { set ymax $y }
}
set topo [new Topography]
$topo load_flatgrid [expr ceil($xmax) + 10] [expr ceil($ymax) + 10]
create-god [llength $nodes]

set tr [expr {$opt(trace) eq "" ? "OFF" : "ON"}]
$ns node-config -adhocRouting AODV -llType LL -macType Mac/802_11 \
    -ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna \
    -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $topo \
    -agentTrace $tr -routerTrace $tr -macTrace $tr -movementTrace OFF

set i 0
foreach n $nodes {
    set node($i) [$ns node]
    $node($i) random-motion 0
    $node($i) set X_ [lindex $n 0]
    $node($i) set Y_ [lindex $n 1]
    $node($i) set Z_ 0.0
    incr i
}
if {$movement ne ""} {
    # The names that setdest uses for them.
    set ns_ $ns
    for {set i 0} {$i < [llength $nodes]} {incr i} { set node_($i) $node($i) }
    source $movement
}

# ---------------------------------------------------------------- traffic
set i 0
foreach fl $flows {
    foreach {s d h} $fl break
    switch -- $opt(transport) {
        newreno { set a [new Agent/TCP/Newreno]; set k [new Agent/TCPSink] }
        reno    { set a [new Agent/TCP/Reno];    set k [new Agent/TCPSink] }
        sack    { set a [new Agent/TCP/Sack1];   set k [new Agent/TCPSink/Sack1] }
        vegas   { set a [new Agent/TCP/Vegas];   set k [new Agent/TCPSink] }
        default { usage "transport $opt(transport) for a TCP flow" }
    }
    $a set window_ $window
    $a set packetSize_ 1460
    $a set fid_ $i
    $ns attach-agent $node($s) $a
    $ns attach-agent $node($d) $k
    $ns connect $a $k
    set ftp [new Application/FTP]
    $ftp attach-agent $a
    $ns at [expr 1.0 + 0.1 * $i] "$ftp start"
    set tcp($i) $a; set ack0($i) 0
    incr i
}
set ntcp $i
set i 0
foreach u $udps {
    foreach {s d kbps bytes t0 t1} $u break
    set a [new Agent/UDP]
    $a set packetSize_ $bytes
    $a set fid_ [expr $ntcp + $i]
    set k [new Agent/LossMonitor]
    $ns attach-agent $node($s) $a
    $ns attach-agent $node($d) $k
    $ns connect $a $k
    set cbr [new Application/Traffic/CBR]
    $cbr set packetSize_ $bytes
    $cbr set rate_ [expr $kbps * 1000.0]
    $cbr set random_ 0
    $cbr attach-agent $a
    $ns at $t0 "$cbr start"
    if {$t1 < $duration} { $ns at $t1 "$cbr stop" }
    set usink($i) $k
    set uspan($i) [expr ($t1 < $duration ? $t1 : $duration) - $t0]
    incr i
}
set nudp $i

# ---------------------------------------------------------------- measurement
proc mark {} {
    global ntcp tcp ack0
    for {set i 0} {$i < $ntcp} {incr i} { set ack0($i) [$tcp($i) set ack_] }
}
$ns at $warmup mark

proc finish {} {
    global opt ntcp tcp ack0 nudp usink uspan duration warmup wall0 tfd
    set wall [expr ([clock clicks -milliseconds] - $wall0) / 1000.0]
    close $tfd
    set g {}; set st {}
    for {set i 0} {$i < $ntcp} {incr i} {
        lappend g [format %.1f [expr ([$tcp($i) set ack_] - $ack0($i)) * 1460 * 8 / 1000.0 / ($duration - $warmup)]]
        set one {}
        foreach v {nrexmit_ ndatapack_ nrexmitpack_ ncwndcuts_ ncwndcuts1_ ack_ maxseq_ t_seqno_ cwnd_ ssthresh_} {
            if {![catch {$tcp($i) set $v} val]} { lappend one "\"[string trimright $v _]\": $val" }
        }
        lappend st "{[join $one {, }]}"
    }
    for {set i 0} {$i < $nudp} {incr i} { lappend g [format %.1f [expr [$usink($i) set bytes_] * 8 / 1000.0 / $uspan($i)]] }
    set out "{\"scenario\": \"[file rootname [file tail $opt(file)]]\", \"transport\": \"$opt(transport)\", \"seed\": $opt(seed),"
    # The next event's number is the number of events scheduled so far.
    append out " \"events\": [$::ns at [expr {$duration + 1}] {}],"
    append out " \"duration_s\": $duration, \"warmup_s\": $warmup, \"goodput_kbps\": \[[join $g {, }]\], \"wall_s\": [format %.2f $wall]"
    if {$opt(stats)} { append out ", \"tcp\": \[[join $st {, }]\]" }
    puts "$out}"
    exit 0
}
$ns at $duration finish
set wall0 [clock clicks -milliseconds]
$ns run
