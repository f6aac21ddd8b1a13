step                                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                               13        9      1
  root set: gt made "2021-11-28T00:00:00Z" (index day)         13        9      1                       3    13  taken: found all
  level 0                                                      13   9    9      1        9
    uid
    value made one
cost 15 expected, 11 read
