import { keysPage } from './keys.js'
import { auditPage } from './keysAudit.js'
import { overviewPage } from './overview.js'
import type { ConsolePage } from './page.js'
import { paymentPage } from './payment.js'
import { paymentsPage } from './payments.js'
import { webhooksPage } from './webhooks.js'

/** The navigation shows those with a label, in this order. */
export const pages: readonly ConsolePage[] = [overviewPage, paymentsPage, paymentPage, webhooksPage, keysPage, auditPage]
