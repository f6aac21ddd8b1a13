step                                       estimated    in   out  times  records  lists  tokens  uids
block 0: query q                                1000        1000      1
  root seek: eq kind "lamp" (index exact)       1000        1000      1               1                taken: counted in the head of its list
  level 0                                       1000
    countUid
block 1: query r                                 333         843      1               1     128
  root seek: eq kind "lamp" (index exact)       1000        1000      1               1          1000  taken: found all
    or gt price "100" (index int)
  filter gt price "100" (index int)              333  1000   843      1     1000            188        tested by the nodes' own values
  level 1                                        333   843   843      1
    countUid
cost 1012 expected, 1166 read
