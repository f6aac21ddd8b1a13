step                                               estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                                    2      1       32
  root set: regexp words "^AMBER" (index trigram)                 500      1              27          1500  taken: tested as far as the page
  page first 2
  level 0                                                      2    2      1        2
    uid
    value words one
cost 38 expected, 69 read
