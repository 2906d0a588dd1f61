"""Words too common to choose a passage by, for the languages that have a list."""

from __future__ import annotations

from collections.abc import Mapping

_ENGLISH = """
a about above after again against all also am an and any are aren as at be because been before being below between
both but by can cannot could couldn did didn do does doesn doing don down during each few for from further had hadn
has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll me
more most mustn my myself no nor not now of off on once only or other our ours ourselves out over own re same shall
shan she should shouldn so some such than that the their theirs them themselves then there these they this those
through to too under until up us ve very was wasn we were weren what when where which while who whom whose why will
with won would wouldn you your yours yourself yourselves please thank thanks hello hi hey could kindly wondering
"""

_RUSSIAN = """
а без более больше будет будто бы был была были было быть в вам вас вдруг ведь во вот впрочем все всего всех всю вы
где да даже для до его ее ей ему если есть еще ж же за здесь и из или им иногда их к как какая какие каким какого
какой ко когда конечно которая которого которое которой котором который которые которых кто куда ли лучше между меня
мне много может можно мой моя мы на над надо наконец нас не него нее ней нельзя нет ни нибудь никогда ним них ничего
но ну о об один он она они оно опять от перед по под после потом потому почти при про раз разве с сам свою себе себя
сейчас со совсем так такой там тебя тем теперь то тогда того тоже той только том тот тут ты у уж уже хоть хорошо
чего чем через что чтоб чтобы чуть эта эти этих это этого этой этом этот эту я пожалуйста спасибо здравствуйте
привет
"""

_GERMAN = """
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist bitte da dadurch
dafür damit dann das dass dein deine dem den denn der des dessen deshalb die dies diese diesem diesen dieser dieses
doch dort du durch ein eine einem einen einer eines er es etwas euer eure für gegen gewesen hab habe haben hallo hat
hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden
jeder jedes jener jetzt kann kannst kein keine keinen keiner können könnt könnte machen mal man manche mein meine mich
mir mit muss müssen nach nachdem nein nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit
sich sie sind so solche soll sollen sollte sondern sonst über um und uns unser unsere unter viel vom von vor wann war
waren warum was weg weil weiter welche welchem welchen welcher welches wenn wer werde werden wie wieder wieso will wir
wird wirst wo woher wohin wollen worden wurde wurden zu zum zur zwar zwischen danke
"""

_FRENCH = """
à afin ai alors après au aucun aussi autre aux avant avec avez avoir avons bien bonjour c ça car ce ceci cela celle
celles celui ces cet cette ceux chaque chez ci comme comment d dans de des donc dont du elle elles en encore entre est
et était étaient être eu fait faut ici il ils j je l la là laquelle le lequel les leur leurs lors lui m ma mais me
même merci mes moi moins mon n ne ni non nos notre nous on ont ou où par parce pas pendant peu peut peuvent peux plus
pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si sinon son sont sous sur t
ta te tes toi ton tous tout toute toutes très trop tu un une vers voici voilà vos votre vous y
"""

_SPANISH = """
a al algo alguna algunas alguno algunos ante antes aquel aquella aquí así aunque bajo bien cada como cómo con contra
cual cuál cuales cuáles cualquier cuando cuándo cuanto cuánto de del desde después donde dónde dos durante e el él
ella ellas ellos en entre era eran es esa esas ese eso esos esta está están estas este esto estos fue fueron gracias
ha había hace hacen hacia han hasta hay hola la las le les lo los más me mi mientras mis mucho muy nada ni no nos
nosotros o os otra otras otro otros para pero poco por porque pueda puede pueden puedo pues que qué quien quién
quienes se sea según ser si sí sido sin sobre son su sus también tan tanto te tener tiene tienen todo todos tu tus
un una uno unos usted ustedes y ya yo
"""

_ITALIAN = """
a ad agli ai al all alla alle allo anche ancora avere aveva avete avevo abbiamo c che chi ci ciao cioè come con contro
cosa così cui d da dagli dai dal dall dalla dalle dallo davvero degli dei del dell della delle dello dentro di dopo
dove dov due durante e è ed era erano essere esso fa fare fra già gli grazie ha hai hanno ho i il in io l la le lei li
lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nell nella nelle nello no noi non nostra nostri nostro o
ogni oppure per perché però più poi possiamo possiate possibile posso può puoi qual quale quali quando quanta
quante quanti quanto quasi quella quelle quelli quello questa queste questi questo qui se sei sempre senza si sia
siamo siete sono sotto sta stata stati stato su sua sue sugli sui sul sull sulla sulle suo suoi te ti tra tu tua tue
tuo tuoi tutta tutte tutti tutto un una uno va vi voi vostra vostro
"""

_PORTUGUESE = """
a à ainda além algum alguma alguns algumas antes ao aos aquela aquele aquilo as às assim até cada com como contra da
das de dela dele deles depois desde dessa desse desta deste do dos durante e é ela elas ele eles em enquanto entre era
essa essas esse esses esta está estamos estão estar estas este estes eu faz fazer foi foram há isso isto já lá lhe
mais mas me mesmo meu meus minha minhas muito muitos na não nas nem nenhum no nos nós nossa nosso num numa o obrigado
olá onde os ou para pela pelas pelo pelos pode podem podemos posso por porque porquê pra qual quais quando quanta
quantas quanto quantos que quê quem são se seja sem ser será seu seus si sim só sob sobre sua suas também tanto te tem
têm temos tenho ter todas todo todos tua tudo um uma umas uns vai você vocês vos
"""

_DUTCH = """
aan al alle alleen als altijd andere ben bent bij binnen daar dan dank dat de deze die dit doe doen door dus een één
elk elke en er geen geweest haar had hallo heb hebben hebt heeft heel het hier hij hoe hoeveel hun iets ik in is ja je
jij jou jouw jullie kan kon kunnen maar mag me meer met mij mijn moet moeten naar na niet niets nog nu of om omdat
onder ons onze ook op over sinds te tegen tijdens toch toen tot tussen u uit uw van vanaf veel via volgens voor
waar waarom wanneer want waren was wat we wel welk welke werd wie wij wil worden wordt zal ze zich zij zijn zo zoals
zonder zou zullen graag alstublieft bedankt
"""

_POLISH = """
a aby ale albo ani aż bardzo bez bo być był była było były by będzie będą cały chce chcę ci co czego czemu czy czym
dla dlaczego do dobry dziękuję dzień gdy gdzie go i ich ile im inne innych ja jak jaka jaki jakie jakich jakiego jako
je jednak jego jej jest jestem jeszcze jeśli jeżeli już kiedy kogo kto która które którego której który
których którym którzy ku lub ma mam mają mi mieć mnie mną moja moje moich moim moją mój może można możemy mogę muszę
musi my na nad nam nami nas nasz nasza nasze natomiast nie nich nim niż no o od on ona one oni oraz po pod podczas
ponieważ poza proszę przed przez przy raz są się skąd sobie swoje ta tak taka taki takie także tam te tego tej ten też
to tu ty tych tylko tym tymi w was wam we wszystkie wszystko wy z za ze że żeby
"""

_TURKISH = """
acaba ama ancak artık aslında az bana bazı belki ben beni benim bir biraz birçok biri birkaç biz bize bizim böyle bu
buna bunlar bunu bunun burada çok çünkü da daha dahi de defa değil diğer diye dolayı edebilir eden eder edilir ediyor
eğer en etmek etti fakat gibi göre hakkında hala hangi hangisi hatta hem henüz hep hepsi her herhangi hiç hiçbir için
iki ile ilgili ise işte kadar karşı kendi kez kim kime kimin ki lazım lütfen merhaba mı mi mu mü mıdır midir mudur
müdür mıyım miyim ne neden nedir nasıl nasıldır nerede nereden nereye niçin niye olan olarak olduğu oldu olur olmak
olması olmayan olsa olup on ona onlar onların onu onun orada öyle rağmen sadece sana sen siz size sizin sonra şey şu
şunu tabii tarafından teşekkürler tüm üzere var ve veya veyahut ya yani yapılır yapmak yerine yine yok yoksa zaten
"""

_SWEDISH = """
alla allt alltid än är antingen att av bara blev bli blir bort borde de dem den denna deras dess dessa det detta dig
din dina dit ditt du då där efter eller en er era ert ett finns fram från få får för före genom gå går gör göra ha
hade han har hej hela henne hennes hit hon honom hos hur här i icke in innan inne inom inte ja jag ju kan kunde ligger
man med mellan men mer mig min mina mitt mot mycket måste ni nog nu när någon något några och också om oss på redan
samma sedan sig sin sina sitt ska skall skulle som så sådan tack till tills under upp ur ut utan vad var vara
varför varit varje vart vem vems vi via vid vilka vilken vilket vill vår våra vårt
"""

STOP_WORDS: Mapping[str, frozenset[str]] = {
    "de": frozenset(_GERMAN.split()),
    "en": frozenset(_ENGLISH.split()),
    "es": frozenset(_SPANISH.split()),
    "fr": frozenset(_FRENCH.split()),
    "it": frozenset(_ITALIAN.split()),
    "nl": frozenset(_DUTCH.split()),
    "pl": frozenset(_POLISH.split()),
    "pt": frozenset(_PORTUGUESE.split()),
    "ru": frozenset(_RUSSIAN.split()),
    "sv": frozenset(_SWEDISH.split()),
    "tr": frozenset(_TURKISH.split()),
}
