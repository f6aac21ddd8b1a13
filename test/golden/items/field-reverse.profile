step                     estimated  in  out  times  records  lists  tokens  uids
block 0: query q                 1        1      1
  root set: uid 3                1
  level 0                        1   1    1      1        1
    edge ~maker                  2   2    2      1
      page first 2
      level 1                    2   2    2      1
        uid
    edge ~parts                  2   2    2      1
      page first 2
      level 2                    2   2    2      1        2
        value stars one
cost 4 expected, 3 read
