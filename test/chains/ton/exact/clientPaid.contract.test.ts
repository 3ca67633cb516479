import { describeSchemeContract } from '../../../contracts/schemeContract.js'
import { clientPaidPayment } from '../../../support/ton/payment.js'
import { openTonHarness } from '../harness.js'

describeSchemeContract("exact on TON, from the payer's wallet", () =>
  openTonHarness({ sign: clientPaidPayment, messageField: 'signedBoc' }),
)
