"""Words that tell the kind of a name: titles, given names, what firms and offices end with, countries and cities."""

from __future__ import annotations

from streams.domain.lexicon import listed

TITLES = listed(
    "mr mrs ms dr prof sen rep gov gen lt col sgt capt maj adm rev hon president vice premier prime minister secretary "
    "chairman chairwoman judge justice senator governor mayor sheriff general colonel captain "
    "major lieutenant sergeant "
    "officer king queen prince princess sir lord lady pope bishop father attorney representative director chief "
    "ambassador professor doctor democrat republican sen. agent detective deputy congressman "
    "chancellor emperor foreign "
    "spokesman spokeswoman commander commissioner president-elect treasurer inspector"
)
SURNAMES = listed("king queen prince pope bishop major lord father general chief sheriff marshal")
KEPT_TITLES = listed("mr mrs ms dr")  # part of the name, as people write it
NATIONALITIES = listed(
    "american british english french german spanish italian russian soviet chinese japanese "
    "korean israeli arab iranian "
    "iraqi libyan jordanian egyptian turkish greek polish czech slovak hungarian romanian bulgarian serbian croatian "
    "bosnian austrian swiss dutch belgian swedish norwegian danish finnish portuguese mexican canadian cuban brazilian "
    "indian pakistani indonesian thai vietnamese cambodian philippine australian african "
    "european asian latin palestinian "
    "lebanese syrian ukrainian lithuanian latvian estonian irish scottish welsh catholic "
    "jewish muslim islamic communist "
    "hindi republican democratic americans soviets serbs"
)
PARTICLES = listed("de von van der den la du di da bin ibn al el del ben ten ter")
ORGANIZATIONS = listed(
    "university college institute school academy department ministry agency bureau office administration commission "
    "committee council court senate congress parliament assembly party union association society federation league "
    "foundation fund bank company corporation corp corp. inc inc. co co. ltd ltd. group firm "
    "industries airlines airways "
    "press times post journal tribune herald network radio television news museum hospital "
    "center centre church service "
    "services police army navy force forces guard coalition organization organisation alliance board division "
    "laboratory laboratories systems technologies software llc gmbh ag subcommittee conference club team orchestra "
    "government legislature ministries authority front movement partners associates enterprises brothers bros. "
    "magazine gazette globe chronicle faction delegation nations community"
)
BY_ITSELF = listed("senate congress parliament pentagon nato interpol xinhua kyodo tass reuters army navy")
OF = (
    ORGANIZATIONS - listed("company corporation corp corp. inc inc. co co. ltd ltd. group firm industries church")
) | listed(
    "republic district gulf bay cape isle state city house chamber kingdom states declaration king queen duke bank sea "
    "strait port university province"
)
PLACE_ENDS = listed(
    "river county city island islands valley lake mountain mountains sea ocean bay beach province peninsula republic "
    "district states state canyon park street avenue boulevard road highway airport heights hills springs falls coast "
    "desert gulf strait fort harbor harbour village town region kingdom building bridge"
)
PLACE_STARTS = listed(
    "north south east west northern southern eastern western central new st. san santa los las "
    "port fort ft. lake mount "
    "mt. el cape upper lower saint grande rio sao"
)
_COUNTRIES = """afghanistan,albania,algeria,angola,argentina,armenia,australia,austria,azerbaijan,bahrain,bangladesh,
belarus,belgium,bolivia,bosnia,bosnia-herzegovina,botswana,brazil,britain,bulgaria,cambodia,cameroon,canada,chad,chile,
china,colombia,congo,costa rica,croatia,cuba,cyprus,czech republic,denmark,dominican republic,ecuador,egypt,
el salvador,england,estonia,ethiopia,finland,france,georgia,germany,ghana,greece,guatemala,haiti,honduras,hong kong,
hungary,iceland,india,indonesia,iran,iraq,ireland,israel,italy,jamaica,japan,jordan,kazakhstan,kenya,kuwait,laos,
latvia,lebanon,liberia,libya,lithuania,luxembourg,macedonia,malaysia,mali,mexico,moldova,mongolia,morocco,mozambique,
namibia,nepal,netherlands,new zealand,nicaragua,niger,nigeria,north korea,norway,oman,pakistan,panama,paraguay,peru,
philippines,poland,portugal,qatar,romania,russia,rwanda,saudi arabia,scotland,senegal,serbia,singapore,slovakia,
slovenia,somalia,south africa,south korea,soviet union,spain,sri lanka,sudan,sweden,switzerland,syria,taiwan,tanzania,
thailand,tunisia,turkey,u.k.,u.s,u.s.,u.s.s.r.,uk,us,usa,uganda,ukraine,united arab emirates,united kingdom,
united states,uruguay,uzbekistan,venezuela,vietnam,wales,yemen,yugoslavia,zambia,zimbabwe,america,europe,asia,africa,
soviet,korea,antarctica,arabia"""
_STATES = """alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,hawaii,idaho,illinois,
indiana,iowa,kansas,kentucky,louisiana,maine,maryland,massachusetts,michigan,minnesota,mississippi,missouri,montana,
nebraska,nevada,new hampshire,new jersey,new mexico,new york,north carolina,north dakota,ohio,oklahoma,oregon,
pennsylvania,rhode island,south carolina,south dakota,tennessee,texas,utah,vermont,virginia,washington,west virginia,
wisconsin,wyoming,ala.,ariz.,ark.,calif.,colo.,conn.,del.,fla.,ga.,ill.,ind.,kan.,ky.,la.,md.,mass.,mich.,minn.,miss.,
mo.,mont.,neb.,nev.,n.h.,n.j.,n.m.,n.y.,n.c.,n.d.,okla.,ore.,pa.,r.i.,s.c.,s.d.,tenn.,tex.,vt.,va.,wash.,w.va.,wis.,
wyo.,d.c."""
_CITIES = """amsterdam,athens,atlanta,baghdad,bangkok,barcelona,beijing,beirut,belgrade,berlin,bonn,boston,brussels,
budapest,buenos aires,cairo,cape town,chicago,copenhagen,dallas,delhi,denver,detroit,dubai,dublin,frankfurt,geneva,
hamburg,hanoi,havana,helsinki,houston,istanbul,jakarta,jerusalem,johannesburg,kabul,kiev,kyiv,lagos,lima,lisbon,london,
los angeles,madrid,manila,melbourne,miami,milan,minsk,montreal,moscow,mumbai,munich,nairobi,new delhi,oslo,ottawa,
paris,philadelphia,phoenix,prague,pyongyang,rangoon,riga,rome,san francisco,sarajevo,seattle,seoul,shanghai,sofia,
stockholm,sydney,tallinn,tehran,tel aviv,tokyo,toronto,vancouver,vienna,vilnius,warsaw,zagreb,zurich,white house,
kremlin,washington d.c.,new york city,hollywood,manhattan,brooklyn"""
PLACES = frozenset(
    name.strip() for names in (_COUNTRIES, _STATES, _CITIES) for name in names.replace("\n", "").split(",")
)
GIVEN = listed(
    "aaron abraham adam alan albert alex alexander alexei alfred alice allen amy andrea andrei "
    "andrew angela ann anna anne "
    "anthony antonio arthur barbara barry ben benjamin bernard betty bill billy bob boris "
    "brian bruce carl carlos carol "
    "caroline catherine charles charlie chris christian christine christopher daniel dan dave "
    "david deborah dennis diana "
    "diane dick dmitri don donald donna dorothy douglas dwight edgar edward edwin elizabeth "
    "ellen emily emma eric ernest "
    "eugene evelyn fidel francis francisco frank franklin fred frederick gary gene geoffrey "
    "george gerald gloria gordon "
    "grace greg gregory guy hans harold harry harvey heather helen henry herbert howard hubert "
    "hugh ian igor isaac ivan "
    "jack jackie jacob james jane janet jason jean jeff jeffrey jennifer jerome jerry jesse "
    "jessica jim jimmy joan joe joel "
    "john johnny jonathan jose joseph joshua juan judith judy julia julie karen karl kate katherine kathleen keith ken "
    "kenneth kevin kim larry laura lawrence lee leo leon leonard leroy leslie lewis linda lisa "
    "lloyd louis lucy luis lyndon "
    "margaret maria marie marilyn mario mark martha martin marvin mary matthew maurice max "
    "melissa michael michelle miguel "
    "mike mikhail mohammed nancy nathan neil nicholas nick nicole nikita norman oliver oscar "
    "pamela patricia patrick paul "
    "pedro peter philip phillip rachel ralph ray raymond rebecca richard rick robert robin "
    "roger roland ron ronald rose roy "
    "russell ruth ryan sally sam samuel sandra sara sarah scott sergei sharon sidney simon "
    "sirhan stanley stephen steve "
    "steven stuart susan suzanne ted teresa terry theodore thomas tim timothy tom tony tracy ulysses victor victoria "
    "vincent virginia vladimir walter warren wayne wendy william willie winston woodrow yuri zachary"
) - {"virginia", "rose", "jordan"}
