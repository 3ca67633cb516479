import { channelsPage } from './channels.js'
import { channelPage } from './channelsDetails.js'
import { creditPage } from './credit.js'
import { discoveryPage } from './discovery.js'
import { resourcePage } from './discoveryDetails.js'
import { explainPage } from './explain.js'
import { holdsPage } from './holds.js'
import { holdPage } from './holdsDetails.js'
import { intentsPage } from './intents.js'
import { intentPage } from './intentsDetails.js'
import { keysPage } from './keys.js'
import { auditPage } from './keysAudit.js'
import { operatorPages } from './operator.js'
import { overviewPage } from './overview.js'
import type { ConsolePage } from './page.js'
import { paymentPage } from './payment.js'
import { paymentsPage } from './payments.js'
import { playgroundPage } from './playground.js'
import { streamsPage } from './streams.js'
import { streamPage } from './streamsDetails.js'
import { webhooksPage } from './webhooks.js'

/** The navigation shows those with a label, in this order. */
export const pages: readonly ConsolePage[] = [
  overviewPage,
  paymentsPage,
  paymentPage,
  streamsPage,
  streamPage,
  channelsPage,
  channelPage,
  holdsPage,
  holdPage,
  intentsPage,
  intentPage,
  playgroundPage,
  explainPage,
  webhooksPage,
  keysPage,
  auditPage,
  discoveryPage,
  resourcePage,
  creditPage,
  ...operatorPages,
]
