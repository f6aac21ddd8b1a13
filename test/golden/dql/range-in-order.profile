step                                               estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                           2        2      1
  root walk: between pages "90" "400" (index int)          3
  filter or                                                2   3    3      1
    eq shelf "A" (index hash)                              1   3    2      1               1             2  tested by sets and indexes
    has keyword                                            2   3    2      1        3                       tested by the nodes' own values
  order by pages desc (index int)                          2        3      1                       3     3  walked its index as far as the page
  page first 2
  level 0                                                  2   2    2      1        2
    value title one
    value pages one
cost 8 expected, 8 read
