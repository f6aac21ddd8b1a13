step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                1        1      1
  root set: uid 3                               1
  level 0                                       1   1    1      1        1
    edge ~maker                                 2   2    2      1
      page first 2 offset 3 after 0x30
      level 1                                   2   2    2      1
        uid
cost 2 expected, 1 read
