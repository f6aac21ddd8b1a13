step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: var                                   62       62      1
  root set: ge price "880" (index int)         62       62      1                      19    62  taken: found all
  level 0                                      62  62   62      1       62
    p as value price one
    s as value stars one
block 1: empty q                                         1      1
  level 1
    aggregate min p
    aggregate max p
    aggregate sum s
    aggregate avg s
cost 64 expected, 72 read
