step                                 estimated  in  out  times  records  lists  tokens  uids
block 0: query q                             2        2      1
  root set: uid 3 4                          2
  level 0                                    2   2    2      1        2
    edge ~maker                             10  10   10      1
      page first 5
      level 1                               10  10   10      1       10
        p as value price one
    aggregate max p through field 0
cost 13 expected, 12 read
