"""Names of tools and parameters that are about money or credentials, in six languages. Pure."""

import re
import unicodedata
from itertools import pairwise

_WORDS_BY_LANGUAGE = {
    "en": (
        "amount amounts balance bank banking bic bill billing bills bitcoin budget buy cash cent cents charge"
        " charges checkout cheque coin coins cost costs credit currency debit deposit deposits discount dollar"
        " dollars donate donation euro euros expense expenses fee fees fund funds grandtotal iban invoice"
        " invoices loan money paid pay payable payee payer paying payment payments payout payouts paypal"
        " payroll pound pounds price prices purchase purchases refund refunds remit remittance rent salaries"
        " salary sepa spend spending subtotal sum swift total totals transaction transactions transfer"
        " transfers wage wages wallet wallets wire wires withdraw withdrawal withdrawals aud brl btc cad chf"
        " cny eth eur gbp inr jpy mxn rmb usd yen accountno accountnumber apikey auth authorization bearer"
        " card cardholder cardno cardnumber cards cookie cookies credential credentials cvc cvv login mfa"
        " oauth otp passcode passkey passphrase passwd password passwords pin pins pwd secret secrets ssn"
        " token tokens totp"
    ),
    "de": (
        "abbuchung bargeld betraege betrag bezahlen bezahlung buchung gebuehr gebuehren gehalt geheimnis"
        " geheimzahl geld guthaben karte karten kauf kaufen kennwort konten konto kontonummer kosten kredit"
        " lastschrift lohn miete passwort passwoerter preis preise rechnung rechnungen rueckerstattung summe"
        " ueberweisen ueberweisung ueberweisungen waehrung zahlen zahlung zahlungen zugangsdaten"
    ),
    "es": (
        "banco cobro comprar compra contrasena contrasenas clave claves coste cuenta dinero divisa efectivo"
        " factura facturas gasto gastos importe moneda monto pagar pago pagos precio precios reembolso saldo"
        " sueldo tarjeta tarjetas transferencia transferencias transferir"
    ),
    "fr": (
        "achat acheter argent banque carte cartes compte cout devise facture factures frais identifiants"
        " montant montants motdepasse paie paiement paiements payer prix remboursement salaire solde somme"
        " virement virements"
    ),
    "pt": (
        "cartao cartoes carteira conta custo custos despesa dinheiro fatura faturas pagamento pagamentos pix"
        " preco precos quantia salario senha senhas valor valores"
    ),
}
_WORDS = frozenset(word for words in _WORDS_BY_LANGUAGE.values() for word in words.split())
_JOINED = tuple(word for word in _WORDS if len(word) >= 6 or word in ("money", "price", "senha", "token", "total"))
"""The words that count at either end of a longer word too, as in `creditcard`; shorter words end and begin many."""
_PAIRS = frozenset({"access key", "api key", "private key", "secret key", "security code", "sort code", "mot passe"})
_CHINESE = re.compile(
    "金额|总额|总价|价格|单价|费用|支付|付款|收款|转账|汇款|退款|余额|账户|帐户|账号|银行|信用卡|卡号|货币|发票"
    "|工资|租金|密码|口令|密钥|令牌|验证码|凭据|钱"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""A word within a name: between marks or digits, or from a capital on."""
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})


def is_sensitive(name: str) -> bool:
    """Return whether a name is about money or credentials, so that a tool or parameter of that name always asks."""
    written = unicodedata.normalize("NFKC", name).translate(_UMLAUTS)
    plain = "".join(char for char in unicodedata.normalize("NFKD", written) if not unicodedata.combining(char))
    words = [word.casefold() for word in _PARTS.findall(plain)]
    joined = {"".join(words), *("".join(pair) for pair in pairwise(words))}
    return (
        _CHINESE.search(name) is not None
        or "2fa" in plain.casefold()
        or any(word in _WORDS or word.startswith(_JOINED) or word.endswith(_JOINED) for word in words)
        or any(word in _WORDS for word in joined)
        or any(" ".join(pair) in _PAIRS for pair in pairwise(words))
    )
