import { describeSchemeContract } from '../../../contracts/schemeContract.js'
import { sponsoredPayment } from '../../../support/ton/payment.js'
import { openTonHarness } from '../harness.js'

describeSchemeContract('exact on TON, relayed by us', () =>
  openTonHarness({ sign: sponsoredPayment, messageField: 'settlementBoc' }),
)
