step                                               estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                                    0      1
  root set: regexp words "er fjo" (index trigram)                   0      1               4                taken: found all
  level 0
    countUid
cost 1 expected, 4 read
