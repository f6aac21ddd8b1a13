step                                                             estimated  in   out  times  records  lists  tokens   uids
block 0: query q                                                                   0      1     2500
  root set: match words "amber basin cedrr" "1" (index trigram)                 2500      1              15          12000  taken: tested as far as the page
  page first 2
  level 0
    uid
    value words one
cost 58 expected, 2575 read
