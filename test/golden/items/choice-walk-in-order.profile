step                                                estimated  in   out  times  records  lists  tokens  uids
block 0: query q                                            4         4      1               2
  root walk: between price "200" "800" (index int)             15    15      1       15                       tested by the nodes' own values
    or eq open "true" (index bool)                       1500      1500      1               1          1500  taken: held beside the walk
  filter eq open "true" (index bool)                      750
  order by price desc (index int)                         750        15      1                      12    37  walked its index as far as the page
  page first 4
  level 0                                                   4   4     4      1        4
    uid
    value price one
cost 33 expected, 36 read
