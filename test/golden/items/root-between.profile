step                                               estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                           9        9      1
  root set: between price "300" "303" (index int)          9        9      1                       3     9  taken: found all
  level 0                                                  9   9    9      1        9
    uid
    value price one
cost 11 expected, 11 read
