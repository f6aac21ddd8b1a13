step                      estimated    in   out  times  records  lists  tokens  uids
block 0: var                   3000        3000      1
  root seek: has words         3000        3000      1               1          3000  taken: found all
  level 0                      3000  3000  3000      1               1      10  3000  values from indexes, no record read
    s as value stars one
block 1: empty q                              1      1
  level 1
    aggregate sum s
cost 16 expected, 37 read
