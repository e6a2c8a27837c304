$node_(0) set X_ 10.5
$node_(0) set Y_ 20.25
$node_(1) set X_ 100
$node_(1) set Y_ 20
$node_(1) set Z_ 0.0
# c
$god_ set-dist 0 1 1
$ns_ at 2.5 "$node_(1) setdest 200 20 7.3"
$ns_ at 2.5 "$god_ set-dist 0 1 2"
$ns_ at 3.5 "$node_(1) setdest 30.1 20 0.0"
$ns_ at 90 "$node_(0) setdest 1 1 0.001"
