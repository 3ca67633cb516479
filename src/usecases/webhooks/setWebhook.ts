import { AppError } from '../../errors.js'
import { maxWebhookUrlLength } from '../../protocol/webhooks.js'
import type { WebhookDependencies } from './dependencies.js'
import { createWebhookSecret } from './signWebhook.js'
import type { WebhookUseCases } from './useCases.js'

// URL parsers disagree on whether to strip these.
const unreadable = /[\s\p{C}]/u

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
    const problem = findUrlProblem(url) ?? transport.findUrlProblem(url)
    if (problem !== null) throw new AppError('INVALID_REQUEST', `webhookUrl: ${problem}`)
    const secret = createWebhookSecret()
    await outbox.setEndpoint(account.id, { url, sealedSecret: sealer.seal(secret) })
    return { webhookUrl: url, secret }
  }

const findUrlProblem = (url: string): string | null => {
  if (url.length > maxWebhookUrlLength) return `must have at most ${maxWebhookUrlLength} characters`
  return unreadable.test(url) ? 'must not hold spaces or control characters' : null
}
