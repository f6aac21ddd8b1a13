/**
 * Stop words of languages for which no package has the list that clients of the reference know. The lists are those
 * of the Snowball project and of Jacques Savoy (BSD licence), in alphabetical order.
 */
export const stopWordTexts: Readonly<Record<string, string>> = {
  ar: `
    أ ألا أما أن أنت أنه أنها أو أى أي أيضا إذا إلا إلى إلي إما إن إنه إنها ا اذا الآن الا الان
    التى التي الذى الذي الذين الى الي اما ان انت انه انها او اى اي ايضا ب بأن بان بعد بعض به بها
    بين بينما تكون تلك ثم جميع حتى حيث خلال ذلك ضمن على عليه عليها عن عند عندما غير ف فأن فان
    فما فهو فهى فهي في فيه فيها قبل قد كان كانت كل كما لا لدى لك لكن لم لن له لها ما مع من منذ
    منه منها نحو هذا هذه هناك هو هى هي و وأن وإن وان وفي وكان وكانت وكل ولا ولم ولن وما ومن وهو
    وهى وهي يكون`,
  bg: `
    а аз ако ала бе без беше би бил била били било близо бъдат бъде бяха в вас ваш ваша вероятно
    вече взема ви вие винаги все всеки всички всичко всяка във въпреки върху г ги главно го д да
    дали до докато докога дори досега доста е едва един ето за зад заедно заради засега затова
    защо защото и из или им има имат иска й каза как каква какво както какъв като кога когато
    което които кой който колко която къде където към ли м ме между мен ми мнозина мога могат
    може моля момента му н на над назад най направи напред например нас не него нея ни ние никой
    нито но някои някой няма обаче около освен особено от отгоре отново още пак по повече
    повечето под поне поради после почти прави пред преди през при пък първо с са само се сега
    си скоро след сме според сред срещу сте съм със също т тази така такива такъв там твой те
    тези ти тн то това тогава този той толкова точно трябва тук тъй тя тях у харесва ч че често
    чрез ще щом я`,
  ca: `
    a abans ací ah així això al aleshores algun alguna algunes alguns alhora allà allí allò als
    altra altre altres amb ambdues ambdós apa aquell aquella aquelles aquells aquest aquesta
    aquestes aquests aquí baix cada cadascuna cadascunes cadascuns cadascú com contra d'un d'una
    d'unes d'uns dalt de del dels des després dins dintre donat doncs durant e eh el els em en
    encara ens entre eren es esta estaven esteu està estàvem estàveu et etc ets fins fora
    gairebé ha han has havia he hem heu hi ho i igual iguals ja l'hi la les li li'n llavors m'he
    ma mal malgrat mateix mateixa mateixes mateixos me mentre meu meus meva meves molt molta
    moltes molts mon mons més n'he n'hi ne ni no nogensmenys només nosaltres nostra nostre
    nostres o oh oi on pas pel pels per perquè però poc poca pocs poques potser propi qual quals
    quan quant que quelcom qui quin quina quines quins què s'ha s'han sa semblant semblants ses
    seu seus seva seves si sobre sobretot solament sols son sons sota sou sóc són t'ha t'han
    t'he ta tal també tampoc tan tant tanta tantes teu teus teva teves ton tons tot tota totes
    tots un una unes uns us va vaig vam van vas veu vosaltres vostra vostre vostres érem éreu és`,
  ckb: `
    ئێمە ئێوە ئەم ئەو ئەوان ئەوەی بۆ بێ بێجگە بە بەبێ بەدەم بەردەم بەرلە بەرەوی بەرەوە بەلای
    بەپێی تۆ تێ جگە دوای دوو دە دەکات دەگەڵ سەر لێ لە لەبابەت لەباتی لەبارەی لەبرێتی لەبن لەبەر
    لەبەینی لەدەم لەرێ لەرێگا لەرەوی لەسەر لەلایەن لەناو لەنێو لەو لەپێناوی لەژێر لەگەڵ من ناو
    نێوان هەر هەروەها و وەک پاش پێ پێش چەند کرد کە ی`,
  cs: `
    a aby aj ale ani asi atd atp až bez bude budem budeš by byl byla byli bylo být co což cz
    další dnes do ho i jak jakmile jako jakož je jeho jehož jej jejich její jelikož jemu jen
    ještě jež ji jiné již jsem jseš jsme jsou jste já jí jíž k kam kde kdo když ke kterou která
    které který kteří mezi mi mne my má máte mít mě můj může na nad napište načež naši nebo neg
    nejsou není než nic nové nový nám nás němu němuž o od on ona oni ono ony pak po pod podle
    pokud pouze pravé pro proto protože proč první pta před přes při přičemž re s se si strana
    své svých svým svými ta tak také takže tato tedy ten tento teto tipy to tohle toho tohoto
    tom tomto tomu tomuto tu tuto ty tyto téma tím tímto těm těmu u už v vaše ve vy vám vás více
    však z za zda zde ze zprávy zpět či článku články`,
  es: `
    a al algo algunas algunos ante antes como con contra cual cuando de del desde donde durante
    e el ella ellas ellos en entre era erais eran eras eres es esa esas ese eso esos esta estaba
    estabais estaban estabas estad estada estadas estado estados estamos estando estar estaremos
    estará estarán estarás estaré estaréis estaría estaríais estaríamos estarían estarías estas
    este estemos esto estos estoy estuve estuviera estuvierais estuvieran estuvieras estuvieron
    estuviese estuvieseis estuviesen estuvieses estuvimos estuviste estuvisteis estuviéramos
    estuviésemos estuvo está estábamos estáis están estás esté estéis estén estés fue fuera
    fuerais fueran fueras fueron fuese fueseis fuesen fueses fui fuimos fuiste fuisteis fuéramos
    fuésemos ha habida habidas habido habidos habiendo habremos habrá habrán habrás habré
    habréis habría habríais habríamos habrían habrías habéis había habíais habíamos habían
    habías han has hasta hay haya hayamos hayan hayas hayáis he hemos hube hubiera hubierais
    hubieran hubieras hubieron hubiese hubieseis hubiesen hubieses hubimos hubiste hubisteis
    hubiéramos hubiésemos hubo la las le les lo los me mi mis mucho muchos muy más mí mía mías
    mío míos nada ni no nos nosotras nosotros nuestra nuestras nuestro nuestros o os otra otras
    otro otros para pero poco por porque que quien quienes qué se sea seamos sean seas seremos
    será serán serás seré seréis sería seríais seríamos serían serías seáis sido siendo sin
    sobre sois somos son soy su sus suya suyas suyo suyos sí también tanto te tendremos tendrá
    tendrán tendrás tendré tendréis tendría tendríais tendríamos tendrían tendrías tened tenemos
    tenga tengamos tengan tengas tengo tengáis tenida tenidas tenido tenidos teniendo tenéis
    tenía teníais teníamos tenían tenías ti tiene tienen tienes todo todos tu tus tuve tuviera
    tuvierais tuvieran tuvieras tuvieron tuviese tuvieseis tuviesen tuvieses tuvimos tuviste
    tuvisteis tuviéramos tuviésemos tuvo tuya tuyas tuyo tuyos tú un una uno unos vosotras
    vosotros vuestra vuestras vuestro vuestros y ya yo él éramos`,
  eu: `
    al anitz arabera asko baina bat batean batek bati batzuei batzuek batzuetan batzuk bera
    beraiek berau berauek bere berori beroriek beste bezala da dago dira ditu du dute edo egin
    ere eta eurak ez gainera gu gutxi guzti haiei haiek haietan hainbeste hala han handik hango
    hara hari hark hartan hau hauei hauek hauetan hemen hemendik hemengo hi hona honek honela
    honetan honi hor hori horiei horiek horietan horko horra horrek horrela horretan horri
    hortik hura izan ni noiz nola non nondik nongo nor nora ze zein zen zenbait zenbat zer
    zergatik ziren zituen zu zuek zuen zuten`,
  fa: `
    اباد اثر اره اري از است استفاده اش اكنون البته ام اما امد امده امروز امسال ان انان انجا اند
    انكه انها انچه او اورد اورده اول اي ايا ايد ايشان ايم اين اينكه اگر با بار باره باشد باشند
    باشيم بالا بالاي بايد بدون بر برابر براساس براي برخوردار برخي برداري بروز بسيار بسياري بعد
    بعري بعضي بلكه بله بلي بنابراين بندي به بهترين بود بودن بودند بوده بي بيرون بيست بيش بيشتر
    بيشتري بين تا تازه تاكنون تان تحت تر ترين تمام تمامي تنها تواند توانند توسط تول توي جا جاي
    جايي جدا جديد جريان جز جلوي جلوگيري حتي حدود حق خارج خدمات خواست خواهد خواهند خواهيم خود
    خويش خياه داد دادن دادند داده دارد دارند داريم داشت داشتن داشتند داشته دانست دانند در درباره
    دنبال ده دهد دهند دو دوم ديده ديروز ديگر ديگران ديگري را راه رفت رفته روب روزهاي روي ريزي
    زياد زير زيرا سابق ساخته سازي سراسر سري سعي سمت سوم سوي سپس شان شايد شد شدن شدند شده شش شما
    شناسي شود شوند صورت ضد ضمن طبق طريق طور طي عقب علت عنوان غير فقط فكر فوق قابل قبل قصد كجا
    كجاست كدام كرد كردم كردن كردند كرده كس كسي كل كمتر كنار كند كنم كنند كنيد كنيم كه كي لطفا ما
    مان مانند مثل مختلف مدتي مردم مرسي مقابل من مورد مي ميليارد ميليون مگر ناشي نام نبايد نبود
    نخست نخستين نخواهد ندارد ندارند نداشته نزد نزديك نشان نشده نظير نكرده نمايد نمي نه نوعي نيز
    نيست ه ها هاي هايي هر هرگز هزار هست هستند هستيم هفت هم همان همه همواره همين همچنان همچنين
    همچون هنوز هنگام هنگامي هيچ و وسط وقتي وقتيكه ولي وي وگو يا يابد يك يكديگر يكي پاعين پس پنج
    پيش چرا چطور چند چندين چنين چه چهار چون چيز چيزي چيست چگونه گذاري گذاشته گردد گرفت گرفته
    گروهي گفت گفته گويد گويند گيرد گيري`,
  gl: `
    a alí ao aos aquel aquela aquelas aqueles aquilo aquí as así aínda ben cando che co coa coas
    comigo con connosco contigo convosco cos cun cunha cunhas cuns da dalgunha dalgunhas dalgún
    dalgúns das de del dela delas deles desde deste do dos dun dunha dunhas duns e el ela elas
    eles en era eran esa esas ese eses esta estaba estar este estes estiven estou está están eu
    facer foi foron fun había hai iso isto la las lle lles lo los mais me meu meus min miña
    miñas moi na nas neste nin no non nos nosa nosas noso nosos nun nunha nunhas nuns nós o os
    ou para pero pode pois pola polas polo polos por que se senón ser seu seus sexa sido sobre
    súa súas tamén tan te ten ter teu teus teñen teño ti tido tiven tiña túa túas un unha unhas
    uns vos vosa vosas voso vosos vós á é ó ós`,
  hi: `
    अंदर अत अदि अप अपना अपनि अपनी अपने अभि अभी आदि आप इंहिं इंहें इंहों इतयादि इत्यादि इन इनका
    इन्हीं इन्हें इन्हों इस इसका इसकि इसकी इसके इसमें इसि इसी इसे उंहिं उंहें उंहों उन उनका उनकि
    उनकी उनके उनको उन्हीं उन्हें उन्हों उस उसके उसि उसी उसे एक एवं एस एसे ऐसे ओर और कइ कई कर
    करता करते करना करने करें कहते कहा का काफि काफ़ी कि किंहें किंहों कितना किन्हें किन्हों किया
    किर किस किसि किसी किसे की कुछ कुल के को कोइ कोई कोन कोनसा कौन कौनसा गया घर जब जहाँ जहां जा
    जिंहें जिंहों जितना जिधर जिन जिन्हें जिन्हों जिस जिसे जीधर जेसा जेसे जैसा जैसे जो तक तब तरह
    तिंहें तिंहों तिन तिन्हें तिन्हों तिस तिसे तो था थि थी थे दबारा दवारा दिया दुसरा दुसरे दूसरे
    दो द्वारा न नहिं नहीं ना निचे निहायत नीचे ने पर पहले पुरा पूरा पे फिर बनि बनी बहि बही बहुत
    बाद बाला बिलकुल भि भितर भी भीतर मगर मानो मे में यदि यह यहाँ यहां यहि यही या यिह ये रखें
    रवासा रहा रहे ऱ्वासा लिए लिये लेकिन व वगेरह वरग वर्ग वह वहाँ वहां वहिं वहीं वाले वुह वे
    वग़ैरह संग सकता सकते सबसे सभि सभी साथ साबुत साभ सारा से सो हि ही हुअ हुआ हुइ हुई हुए हे हें
    है हैं हो होता होति होती होते होना होने`,
  hu: `
    a abban ahhoz ahogy ahol aki akik akkor alatt amely amelyek amelyekben amelyeket amelyet
    amelynek ami amikor amit amolyan amíg annak arra arról az azok azon azonban azt aztán azután
    azzal azért be belül benne bár cikk cikkek cikkeket csak de e ebben eddig egy egyes egyetlen
    egyik egyre egyéb egész ehhez ekkor el ellen első elég elő először előtt emilyen ennek erre
    ez ezek ezen ezt ezzel ezért fel felé hanem hiszen hogy hogyan igen ill ill. illetve ilyen
    ilyenkor ismét ison itt jobban jó jól kell kellett keressünk keresztül ki kívül között közül
    legalább legyen lehet lehetett lenne lenni lesz lett maga magát majd meg mellett mely melyek
    mert mi mikor milyen minden mindenki mindent mindig mint mintha mit mivel miért most már más
    másik még míg nagy nagyobb nagyon ne nekem neki nem nincs néha néhány nélkül olyan ott pedig
    persze rá s saját sem semmi sok sokat sokkal szemben szerint szinte számára talán tehát
    teljes tovább továbbá több ugyanis utolsó után utána vagy vagyis vagyok valaki valami
    valamint való van vannak vele vissza viszont volna volt voltak voltam voltunk által
    általában át én éppen és így össze úgy új újabb újra ő ők őket`,
  ro: `
    acea aceasta această aceea acei aceia acel acela acele acelea acest acesta aceste acestea
    aceşti aceştia acolo acum ai aia aibă aici al ale alea altceva altcineva am ar are asemenea
    asta astea astăzi asupra au avea avem aveţi azi aş aşadar aţi bine bucur bună ca care ce cel
    ceva chiar cine cineva contra cu cum cumva curând curînd când cât câte câtva câţi cînd cît
    cîte cîtva cîţi că căci cărei căror cărui către da dacă dar datorită de deci deja deoarece
    departe deşi din dinaintea dintr dintre drept după dă ea ei el ele eram este eu eşti face fi
    fie fiecare fii fim fiţi fără iar ieri la le li lor lui lângă lîngă mea mei mele mereu meu
    mi mine mult multă mulţi mâine mă ne nici nicăieri nimeni nişte noastre noastră noi nostru
    noştri nu ori oricare orice oricine oricum oricând oricât oricînd oricît oriunde pe pentru
    peste poate pot prea prima primul prin printr până pînă sa sale sau se spre sub sunt suntem
    sunteţi sînt sîntem sînteţi să săi său ta tale te tine toate toată tot totuşi toţi tu tăi
    tău un una unde undeva unei unele uneori unor vi voastre voastră voi vostru vouă voştri vreo
    vreun vă îi îl îmi împotriva în înainte înaintea încotro încât încît între întrucât întrucît
    îţi ăla ălea ăsta ăstea ăştia şi ţi ţie`,
  tr: `
    acaba altmış altı ama ancak arada aslında ayrıca bana bazı belki ben benden beni benim beri
    beş bile bin bir biri birkaç birkez birçok birşey birşeyi biz bizden bize bizi bizim bu buna
    bunda bundan bunlar bunları bunların bunu bunun burada böyle böylece da daha dahi de defa
    değil diye diğer doksan dokuz dolayı dolayısıyla dört edecek eden ederek edilecek ediliyor
    edilmesi ediyor elli en etmesi etti ettiği ettiğini eğer gibi göre halen hangi hatta hem
    henüz hep hepsi her herhangi herkesin hiç hiçbir iki ile ilgili ise itibaren itibariyle için
    işte kadar karşın katrilyon kendi kendilerine kendini kendisi kendisine kendisini kez ki kim
    kimden kime kimi kimse kırk milyar milyon mu mü mı nasıl ne neden nedenle nerde nerede
    nereye niye niçin o olan olarak oldu olduklarını olduğu olduğunu olmadı olmadığı olmak
    olması olmayan olmaz olsa olsun olup olur olursa oluyor on ona ondan onlar onlardan onları
    onların onu onun otuz oysa pek rağmen sadece sanki sekiz seksen sen senden seni senin siz
    sizden sizi sizin tarafından trilyon tüm var vardı ve veya ya yani yapacak yapmak yaptı
    yaptıkları yaptığı yaptığını yapılan yapılması yapıyor yedi yerine yetmiş yine yirmi yoksa
    yüz zaten çok çünkü öyle üzere üç şey şeyden şeyi şeyler şu şuna şunda şundan şunları şunu
    şöyle`,
};
