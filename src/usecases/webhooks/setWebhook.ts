import { AppError } from '../../errors.js'
import { maxWebhookUrlLength } from '../../protocol/webhooks.js'
import type { WebhookDependencies } from './dependencies.js'
import { createWebhookSecret } from './signWebhook.js'
import type { WebhookUseCases } from './useCases.js'

// Spaces and control characters are dropped by some readers of URLs and not by others; the rest of Unicode is a
// name's own affair.
const unreadable = /[\s\p{C}]/u

/** Sets where an account's events go, with a new secret each time, or removes it. */
export const createSetWebhook =
  ({
    outbox,
    transport,
    sealer,
  }: Pick<WebhookDependencies, 'outbox' | 'transport' | 'sealer'>): WebhookUseCases['setWebhook'] =>
  async (account, url) => {
    if (url === '') {
      await outbox.setEndpoint(account.id, null)
      return { webhookUrl: '' }
    }
    const flaw = findUrlProblem(url) ?? transport.findUrlProblem(url)
    if (flaw !== null) throw new AppError('INVALID_REQUEST', `webhookUrl: ${flaw}`)
    const secret = createWebhookSecret()
    await outbox.setEndpoint(account.id, { url, sealedSecret: sealer.seal(secret) })
    return { webhookUrl: url, secret }
  }

const findUrlProblem = (url: string): string | null => {
  if (url.length > maxWebhookUrlLength) return `must have at most ${maxWebhookUrlLength} characters`
  return unreadable.test(url) ? 'must not hold spaces or control characters' : null
}
