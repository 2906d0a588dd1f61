"""Short questions and notes by language, as people type them into a help centre."""

SENTENCES = {
    "de": """
Wie kündige ich mein Abonnement?
Wo finde ich meine Rechnungen?
Passwort vergessen
Rechnung herunterladen
Kann ich zwei Konten zusammenlegen?
Warum wurde meine Zahlung abgelehnt?
Rückerstattung dauert zu lange
Einladung neuer Mitglieder
Gibt es einen Rabatt für Schulen?
Fehler E1042 beim Export
Welche Ports braucht der Dienst?
Benutzer löschen
Sicherung einrichten
Was kostet der größere Tarif?
Adresse ändern
Ist die API im kleinen Tarif enthalten?
Lizenz auf einen Kollegen übertragen
Export als CSV-Datei funktioniert nicht
Wer darf Berichte freigeben?
Zeitzone der Berichte einstellen
""",
    "fr": """
Comment résilier mon abonnement ?
Où sont mes factures ?
Mot de passe oublié
Télécharger une facture
Puis-je fusionner deux comptes ?
Pourquoi mon paiement a-t-il été refusé ?
Remboursement trop long
Inviter des collègues
Y a-t-il une remise pour les écoles ?
Erreur E1042 pendant l'export
Quels ports faut-il ouvrir ?
Supprimer un utilisateur
Configurer une sauvegarde
Combien coûte la formule supérieure ?
Changer d'adresse
L'API est-elle incluse dans la petite formule ?
Transférer une licence
L'export CSV ne marche pas
Qui peut partager les rapports ?
Choisir le fuseau horaire
""",
    "es": """
¿Cómo cancelo mi suscripción?
¿Dónde están mis facturas?
Contraseña olvidada
Descargar una factura
¿Puedo unir dos cuentas?
¿Por qué rechazaron mi pago?
El reembolso tarda demasiado
Invitar a otros miembros
Hay descuento para escuelas
Error E1042 al exportar
Qué puertos necesita el servicio
Eliminar un usuario
Configurar copias de seguridad
Cuánto cuesta el plan grande
Cambiar la dirección
La API viene incluida en el plan pequeño
Transferir una licencia
La exportación a CSV no funciona
Quién puede compartir informes
Zona horaria de los informes
""",
    "ru": """
Как отменить подписку?
Где мои счета?
Забыл пароль
Скачать счёт
Можно ли объединить две учётные записи?
Почему платёж отклонён?
Возврат денег
Пригласить коллег
Есть ли скидка для школ?
Ошибка E1042 при экспорте в CSV
Какие порты нужны сервису?
Удалить пользователя
Настройка резервных копий
Сколько стоит большой тариф?
Сменить адрес
Входит ли API в тариф Basic?
Передать лицензию
Экспорт CSV не работает
Кто может делиться отчётами?
Часовой пояс отчётов
""",
    "it": """
Come disdico il mio abbonamento?
Dove trovo le mie fatture?
Password dimenticata
Scaricare una fattura
Posso unire due account?
Perché il pagamento è stato rifiutato?
Il rimborso è troppo lento
Invitare altri membri
C'è uno sconto per le scuole?
Errore E1042 durante l'esportazione
Quali porte servono al servizio?
Eliminare un utente
Configurare i backup
Quanto costa il piano più grande?
Cambiare indirizzo
L'API è compresa nel piano piccolo?
Trasferire una licenza
L'esportazione in CSV non funziona
Chi può condividere i rapporti?
Fuso orario dei rapporti
""",
    "pt": """
Como cancelo a minha assinatura?
Onde estão as minhas faturas?
Esqueci a senha
Baixar uma fatura
Posso juntar duas contas?
Por que o pagamento foi recusado?
O reembolso demora muito
Convidar outros membros
Há desconto para escolas?
Erro E1042 ao exportar
Quais portas o serviço usa?
Excluir um usuário
Configurar cópias de segurança
Quanto custa o plano maior?
Mudar o endereço
A API está incluída no plano pequeno?
Transferir uma licença
A exportação para CSV não funciona
Quem pode partilhar relatórios?
Fuso horário dos relatórios
""",
    "nl": """
Hoe zeg ik mijn abonnement op?
Waar vind ik mijn facturen?
Wachtwoord vergeten
Factuur downloaden
Kan ik twee accounts samenvoegen?
Waarom is mijn betaling geweigerd?
Terugbetaling duurt te lang
Nieuwe leden uitnodigen
Is er korting voor scholen?
Fout E1042 bij het exporteren
Welke poorten heeft de dienst nodig?
Gebruiker verwijderen
Reservekopie instellen
Wat kost het grotere pakket?
Adres wijzigen
Zit de API in het kleine pakket?
Licentie overdragen aan een collega
Exporteren naar CSV werkt niet
Wie mag rapporten delen?
Tijdzone van de rapporten
""",
    "pl": """
Jak anulować subskrypcję?
Gdzie są moje faktury?
Nie pamiętam hasła
Pobierz fakturę
Czy można połączyć dwa konta?
Dlaczego płatność została odrzucona?
Zwrot pieniędzy trwa za długo
Zaproszenie nowych osób
Czy jest zniżka dla szkół?
Błąd E1042 przy eksporcie
Jakie porty są potrzebne?
Usuwanie użytkownika
Kopie zapasowe
Ile kosztuje większy plan?
Zmiana adresu
Czy API jest w małym planie?
Przeniesienie licencji
Eksport do CSV nie działa
Kto może udostępniać raporty?
Strefa czasowa raportów
""",
    "en": """
How do I cancel my subscription?
Where are my invoices?
Forgotten password
Download invoice
Can I merge two accounts?
Why was my payment declined?
Refund takes too long
Invite new members
Discount for schools
Error E1042 when exporting to CSV
Which ports does the relay use?
Delete user
Backup settings
Larger plan price
Change address
API limits
Transfer a licence
CSV export fails
Who may share reports?
Report time zone
kubectl get pods -n default
NullPointerException in UserService.java
SELECT id FROM users WHERE name = 'x'
docker compose up
git rebase main
retryBudgetMaxAttempts
--no-cache flag
v2.10 release notes
Angela Merkel
Jean-Luc Picard
Mara Birch office hours
São Paulo office address
Zürich opening hours
Beyoncé tour dates
café menu
OAuth2 redirect URI
GDPR data export
Wi-Fi on the train
login
HTTP 502
""",
}
BY_LANGUAGE = {code: text.strip().splitlines() for code, text in SENTENCES.items()}
