step                       estimated  in  out  times  records  lists  tokens  uids
block 0: query q                   1        1      1
  root set: uid 3                  1
  ignorereflex
  level 0                          1   1    1      1        1
    uid
    edge ~maker                    1   1    1      1
      page first 1
      level 1                      1   1    1      1        1
        edge maker single          1   1    1      1
          level 2                  1   1    1      1
            uid
cost 3 expected, 2 read
