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
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei bin bis bist bitte da dadurch dafür
damit dann das dass dein deine dem den denn der des dessen deshalb die dies diese diesem diesen dieser dieses doch
dort du durch ein eine einem einen einer eines er es etwas euer eure für gegen gewesen hab habe haben hallo hat
hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in indem ins ist ja jede jedem jeden
jeder jedes jener jetzt kann kannst können könnt könnte machen mal man manche mein meine mich mir mit muss müssen
nach nachdem nein nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner seit sich sie sind so
solche soll sollen sollte sondern sonst über um und uns unser unsere unter viel vom von vor wann war waren warum was
weg weil weiter welche welchem welchen welcher welches wenn wer werde werden wie wieder wieso will wir wird wirst wo
woher wohin wollen worden wurde wurden zu zum zur zwar zwischen danke
"""

_FRENCH = """
à afin ai alors après au aucun aussi autre aux avant avec avez avoir avons bien bonjour c ça car ce ceci cela celle
celles celui ces cet cette ceux chaque chez ci comme comment d dans de des donc dont du elle elles en encore entre
est et était étaient être eu fait faut ici il ils j je l la là laquelle le lequel les leur leurs lors lui m ma mais
me même merci mes moi moins mon n ne ni non nos notre nous on ont ou où par parce pas pendant peu peut peuvent peux
plus pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans se sera ses si sinon son sont sous
sur t ta te tes toi ton tous tout toute toutes très tu un une vers voici voilà vos votre vous y
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

STOP_WORDS: Mapping[str, frozenset[str]] = {
    "de": frozenset(_GERMAN.split()),
    "en": frozenset(_ENGLISH.split()),
    "es": frozenset(_SPANISH.split()),
    "fr": frozenset(_FRENCH.split()),
    "ru": frozenset(_RUSSIAN.split()),
}
