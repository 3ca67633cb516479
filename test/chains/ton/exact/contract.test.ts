import { describeSchemeContract } from '../../../contracts/schemeContract.js'
import { clientPaidPayment, sponsoredPayment } from '../../../support/ton/payment.js'
import { openTonHarness } from '../harness.js'

describeSchemeContract("exact on TON, from the payer's wallet", () =>
  openTonHarness({ sign: clientPaidPayment, messageField: 'signedBoc' }),
)

describeSchemeContract('exact on TON, relayed by us', () =>
  openTonHarness({ sign: sponsoredPayment, messageField: 'settlementBoc' }),
)
