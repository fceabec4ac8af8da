"""Which names are about money or credentials, so that nothing with them is ever agreed to in advance."""

import pytest

from core.agents.consent import target_of_valet
from core.agents.valet import valet_of
from core.consents.sensitive import is_sensitive
from core.consents.shape import target_of
from onevalet.wiring.plugins import load_plugins

SENSITIVE = """
    amount amounts totalAmount total_amount grandTotal subtotal TOTAL sum_due price unitprice pricePerNight eur EUR
    amount_eur usd2 currency wire wire_transfer WireMoney transfer refund refundOrder pay payBill PAYMENT payee bill
    invoice_id creditcard credit_card creditCard CreditCardNumber cardnumber card_no debit IBAN iban2 IBANNumber bic
    salary rent deposit withdraw wallet checkout purchase buy fee budget
    passwd password userPassword pass_word pwd passphrase passcode pin pin1 api_key apiKey apikey APIkey userapikey
    access_key privateKey secret client_secret token accessToken sendtoken bearer otp cvv 2fa_code login auth
    Betrag Beträge zahlung ueberweisung Überweisung Passwort Kennwort kontonummer Gebühr Rechnung Preis
    monto importe precio contraseña tarjeta pagar transferencia cuenta clave
    montant prix virement mot_de_passe motdepasse paiement facture carte
    valor preço senha cartão pagamento saldo pix
    金额 支付 转账金额 密码 信用卡 验证码 退款
"""
PLAIN = """
    text subject body recipient to cc parent parent_id current current_time summary summarize message page payload
    compass passage keyword key monkey feedback feed pinned spinner opinion account accounts address channel title
    location notes start minutes unit count number name day discussion wildcat cardinal tokyo scent percent accent
    causes posture encode decode order sort fire authority
"""


@pytest.mark.parametrize("name", SENSITIVE.split())
def test_a_name_about_money_or_credentials_always_asks(name: str) -> None:
    assert is_sensitive(name)


@pytest.mark.parametrize("name", PLAIN.split())
def test_another_name_does_not(name: str) -> None:
    assert not is_sensitive(name)


def test_what_ships_and_may_be_agreed_to_still_may() -> None:
    plugins = load_plugins(["agents"])
    valets = [found for kind in plugins.agents if (found := valet_of(kind)) and found.standing is not None]
    targets = [target_of(tool) for tool in plugins.tools if tool.standing is not None]
    targets += map(target_of_valet, valets)
    assert len(targets) >= 2
    assert [target.name for target in targets if target.always_asks] == []
