"""What people say that asks nothing: greetings, thanks, agreement. Rules alone: a wrong guess loses a question."""

from __future__ import annotations

import re

from streams.domain import normalise

MOST_WORDS = 12
LONGEST = 120  # characters

# Said alone, each of these is no question; a slash or a line end parts them.
_PHRASES = """
hello/hi/hey/hiya/howdy/greetings/good morning/good afternoon/good evening/good day/good night/how are you
how are you doing/how is it going/whats up/nice to meet you/thanks/thank you/thank u/thx/ty/many thanks/thanks a lot
thanks a million/thank you very much/thank you so much/thanks so much/much appreciated/appreciate it/i appreciate it
appreciated/
cheers/ok/okay/k/kk/great/perfect/awesome/cool/nice/excellent/wonderful/brilliant/fantastic/good/sounds good/got it
i see/i understand/understood/makes sense/that makes sense/that helps/that helped/that worked/it worked/it works
it works now
that works/all good/all set/no problem/no worries/never mind/nevermind/thats all/that is all/thats it/bye/goodbye
bye bye/see you/see you later/have a nice day/have a good day/have a great day/take care/you are welcome
youre welcome/
welcome/well done/good job/lol/haha/will do/very helpful/super
привет/приветствую/здравствуй/здравствуйте/добрый день/доброе утро/добрый вечер/доброго дня/доброй ночи/как дела
спасибо/
спасибо большое/большое спасибо/огромное спасибо/благодарю/благодарю вас/спс/ок/окей/хорошо/отлично/супер/прекрасно/
понятно/понял/поняла/ясно/ладно/здорово/класс/все понятно/помогло/все получилось/получилось/пока/до свидания
всего доброго/всего хорошего/хорошего дня/пожалуйста
hallo/guten morgen/guten tag/guten abend/gute nacht/grüß gott/grüezi/servus/moin/wie geht es ihnen/wie gehts/danke
danke schön/danke sehr/vielen dank/besten dank/herzlichen dank/tausend dank/alles klar/super/prima/toll/klasse/gut
sehr gut/
perfekt/verstanden/verstehe/passt/bitte/tschüss/tschüß/auf wiedersehen/bis bald/schönen tag/schönen tag noch
bonjour/bonsoir/salut/coucou/bonne journée/bonne soirée/bonne nuit/comment allez vous/ça va/merci/merci beaucoup
merci bien/mille mercis/un grand merci/daccord/parfait/super/génial/très bien/compris/entendu/au revoir/à bientôt
de rien
hola/buenos días/buenas tardes/buenas noches/buenas/qué tal/cómo estás/gracias/muchas gracias/mil gracias/vale
perfecto/
genial/muy bien/bien/entendido/de acuerdo/adiós/hasta luego/de nada
ciao/buongiorno/buonasera/salve/come stai/grazie/grazie mille/molte grazie/va bene/perfetto/ottimo/capito/arrivederci/
prego
olá/oi/bom dia/boa tarde/boa noite/obrigado/obrigada/muito obrigado/muito obrigada/perfeito/ótimo/entendi/tudo bem
tchau
hoi/goedemorgen/goedemiddag/goedenavond/dank je/dank je wel/dank u/dank u wel/bedankt/hartelijk dank/prima/begrepen/
tot ziens/doei
cześć/dzień dobry/dobry wieczór/dziękuję/dzięki/dziękuję bardzo/świetnie/rozumiem/do widzenia
merhaba/selam/günaydın/teşekkürler/teşekkür ederim/çok teşekkürler/sağ ol/tamam/anladım
hej/god morgon/tack/tack så mycket/tusen tack/tack så hemskt mycket/jättebra/hej då
"""
# They may stand beside a phrase, and say nothing alone.
_BESIDE = """
there/all/everyone/everybody/team/guys/folks/friend/sir/madam/again/so much/very much/a lot/for your help
for the help/
for your time/for helping/for the answer/for the info/for the information/for that/for this/for everything/in advance
to you
then/and/oh/ah/wow/yeah/now/you too/indeed/that is/thats/its/very/much/all of you/my friend/please
всем/вам/тебе/вас/за помощь/за ответ/за информацию/заранее/очень/и/ну/все/тогда/ещё раз/еще раз
zusammen/ihnen/dir/euch/für die hilfe/für ihre hilfe/für deine hilfe/für die antwort/im voraus/und/dann/noch/ja/sehr
auch
à tous/à toutes/à vous/pour votre aide/pour ton aide/pour laide/davance/et/alors/beaucoup
a todos/por la ayuda/por tu ayuda/por su ayuda/de antemano/y/entonces/por todo
a tutti/per laiuto/in anticipo/e
a todos/pela ajuda/e
allemaal/voor je hulp/voor uw hulp/en
za pomoc/i
ve/för hjälpen/och
"""


def _listed(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(_folded(phrase).split()) for phrase in re.split(r"[/\n]", text) if phrase.strip())


def _folded(text: str) -> str:
    return text.casefold().replace("ё", "е")


_ALONE, _WITH = _listed(_PHRASES), _listed(_BESIDE)
_LONGEST_PHRASE = max(len(phrase) for phrase in _ALONE | _WITH)
_WORD = re.compile(r"\w+")
_APOSTROPHES = re.compile(r"['’ʼ`]")


def is_greeting(text: str) -> bool:
    """Tell whether a text is greetings, thanks and the like and nothing else; an unknown word makes it a question.

    Letters' case, marks and emoji count for nothing.
    """
    text = _APOSTROPHES.sub("", _folded(normalise.for_model(normalise.normalise_question(text[: LONGEST + 1]))))
    words = _WORD.findall(text)
    if not words or len(words) > MOST_WORDS or len(text) > LONGEST:
        return False
    # reached[n]: the first n words are phrases; True: one of them may stand alone.
    reached: dict[int, bool] = {0: False}
    for end in range(1, len(words) + 1):
        for start in range(max(0, end - _LONGEST_PHRASE), end):
            phrase = tuple(words[start:end])
            if start in reached and (phrase in _ALONE or phrase in _WITH):
                reached[end] = reached.get(end, False) or reached[start] or phrase in _ALONE
    return reached.get(len(words), False)
