step                         estimated  in  out  times  records  lists  tokens  uids
block 0: query q                     2        3      1
  root set: uid 0x3 0x2 0x3          2
  level 0                            2   2    2      1        2
    uid
    value title one
    count author
      filter uid 0x10                    2    1      1                                tested by sets and indexes
    absent nosuch
cost 3 expected, 2 read
