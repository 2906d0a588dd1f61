"""English words that rules go by: closed classes in full, and the open ones that documentation and news use most."""

from __future__ import annotations

from streams.domain.lexicon import listed

DETERMINERS = listed(
    "a an the this that these those each every some any no my your his her its our their another both all"
)
PRONOUNS = listed(
    "i you he she it we they me him us them himself herself itself themselves yourself myself someone anyone everyone "
    "nobody something anything everything nothing one ones there here mine yours theirs ours others"
)
SUBJECTS = listed("i you he she it we they")
BACKWARD = listed("it they he she")  # stand for what was spoken of before
WH = listed("who whom whose which what where when why how")
AUXILIARIES = listed(
    "am is are was were be been being do does did has have had having can could will would shall should may might must "
    "cannot can't won't don't doesn't didn't isn't aren't wasn't weren't hasn't haven't couldn't wouldn't shouldn't"
)
COPULAS = listed("is are was were be been am isn't aren't wasn't weren't")
INVERTING = listed("do does did can could will would shall should may might must don't doesn't didn't")
PREPOSITIONS = listed(
    "of in on at by for with from to into onto over under through during before after between within without against "
    "about via per since until toward towards among across behind beyond inside outside near upon like unlike than as "
    "above below except despite along around beside besides throughout"
)
CONJUNCTIONS = listed("and or nor plus")
SUBORDINATORS = listed("if because although though while whereas unless but so then once whether yet")
ADVERBS = listed(
    "not never also only just very too even still already always often now today tomorrow yesterday again soon later "
    "up out off down away back ahead together instead however therefore thus otherwise moreover meanwhile almost quite "
    "rather perhaps maybe please yes ok well first finally ago nearby overseas twice "
    "abroad e.g. i.e. etc etc. hence else ever far"
)
# Adjectives and quantities that name nothing: dropped from the start of a phrase.
OPEN_ADJECTIVES = listed(
    "other others such same own new old good better best bad worse many much more most few fewer less least several "
    "various certain different following next last previous current recent whole entire main major "
    "additional further possible necessary able sure likely useful available common similar special specific "
    "particular big large small little long short high low great important given enough only usual typical "
    "first second third former latter late early"
)
ADJECTIVES = listed(
    "free annual monthly weekly daily yearly hourly public private internal external active inactive single multiple "
    "full empty open closed valid invalid global local remote manual automatic secure personal separate "
    "correct wrong ready true false visible hidden safe fast slow strong hard soft easy simple complex dead alive top "
    "native political economic military federal national foreign senior central northern southern eastern western"
)
NUMBERS = listed(
    "two three four five six seven eight nine ten eleven twelve twenty thirty hundred thousand million billion dozen"
)
# Nouns that name nothing by themselves.
EMPTY_NOUNS = listed(
    "thing way example case lot kind sort number amount part bit fact reason time moment matter way end place set "
    "today text note tip"
)
MONTHS = listed(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. "
    "jan feb mar apr jun jul aug sep sept oct nov dec"
)
VERBS = listed(
    "accept accuse achieve acquire add adjust agree allow announce appear apply approve argue arrest arrive ask "
    "assassinate assign attach attend authenticate authorize avoid become begin believe belong "
    "bill bring browse build buy "
    "calculate cancel carry choose close collect combine come compare complete comprise compute configure confirm "
    "connect consider consist contain continue convert create criticize decide declare define "
    "delete deliver deny depend deploy "
    "describe detect determine die disable discard discover discuss edit elect emerge enable encrypt enforce enter "
    "ensure establish exceed execute exist expect expire explain express extend fail fetch find follow forget generate "
    "get give go grant grow happen hear hire identify ignore implement improve include increase inform insert insist "
    "install integrate invite invoke involve join keep know learn leave let lie live locate lose maintain make manage "
    "mean meet merge migrate modify murder notify obtain occur operate oppose parse pass perform permit prevent "
    "proceed produce prohibit protect prove provide publish put quote raise receive recommend "
    "recover redirect reduce refine handle "
    "refer refuse register reject relate remain remember remove rename renew replace represent require resign resolve "
    "respond restart restore restrict resume retire retrieve reveal revoke rotate say see seek seem select sell send "
    "serve set settle specify spend speak strengthen submit subscribe succeed suffer suggest suspend take teach tell "
    "terminate think threaten throw toggle transform try understand unsubscribe validate verify violate warn win wish "
    "write eat fly die break bring offset rely differ invest adopt lack own want"
)
# Verbs that are nouns as often: the words around them decide.
NOUN_VERBS = listed(
    "access answer approach attack attempt back benefit block book bomb call cause chair challenge change charge check "
    "claim click command comment contact control copy cost count cover crash cut damage deal debate demand design "
    "display document down download drive drop email estimate exchange experience export face feed file fight "
    "end filter finish fire fix flow focus force form function gain group guide hand head help "
    "hit hold host impact import "
    "index influence issue judge jump kill label land launch lead limit line link list load lock log look map mark "
    "market match measure move name need offer order pay permit pin place plan play point post practice present press "
    "price process profile program project promise protest prompt pull purchase push query question queue raise range "
    "rank rate reach read reason record refund release repeat reply report request reserve reset rest result retry "
    "return review rule run sale sample save scan schedule score search select share ship shoot shop shot show sign "
    "sort sound source stage stand start state stay step stop store stream strike study style subject supply support "
    "surprise switch sync tag talk target tax test top touch track trade train transfer trap travel treat trigger "
    "trust turn type update upgrade upload use value view visit vote wait walk watch work"
)
PASTS = listed(
    "said told went made took held met ran won led born built found gave got kept knew lost paid saw sent sold spoke "
    "stood thought wrote written taken given known shown drawn began begun brought bought caught chose chosen came "
    "fell felt fought grew grown heard hidden meant read rose risen sought shot slain slew spent struck taught threw "
    "thrown understood wore worn broke broken died bore did done gone been flew drove sat fled left became hung seen"
)
NOUNS_IN_ING = listed(
    "billing building meeting setting pricing string thing training heading ring spring king morning evening warning "
    "rating hearing listing mapping nothing something processing indexing caching logging monitoring scaling banking "
    "streaming chunking ranking routing handling"
)
NOUNS_IN_ED = listed("feed seed bed need speed embed shed hundred red")
NOUNS_IN_LY = listed("family reply supply assembly anomaly italy july ally")
TECH_ACRONYMS = listed(
    "api csv pdf sso http https url sql json xml html css rest sdk cli ui id ip tcp udp tls ssl dns ssh ftp saml oauth "
    "oidc jwt cpu gpu ram ssd os db crm erp vat faq sla ttl uuid uri yaml toml llm ai ml nlp bm25 rrf smtp imap sms "
    "mfa 2fa totp ldap scim rbac vpn cdn qa kpi ocr rpc grpc sepa iban eur usd gdpr utf ascii"
)
SPEECH = listed(
    "said says say told asked added argued insisted announced testified replied wrote declared denied claimed noted"
)
