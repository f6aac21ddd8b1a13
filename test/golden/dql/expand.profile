step               estimated  in  out  times  records  lists  tokens  uids
block 0: query q           1        1      1
  root set: uid 1          1
  level 0                  1   1    1      1        2
    expand all
      level 1                  2    2      2
        uid
cost 2 expected, 2 read
