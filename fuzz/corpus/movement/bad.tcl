$node_(0) set Q_ 5
$node_(x)
