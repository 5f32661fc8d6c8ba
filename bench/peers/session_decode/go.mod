module gangway.io/bench/peers/session_decode

go 1.24
