import { unknownActor } from '../dashboard/mailChange.js'
import { getEndpoint, noWebhook, type WebhookDependencies } from './dependencies.js'
import { createWebhookSecret } from './signWebhook.js'
import type { WebhookUseCases } from './useCases.js'

const overlapMs = 24 * 3_600_000

/** For 24 h messages are signed with both secrets, so that receivers can switch without downtime. */
export const createRotateSecret =
  ({
    outbox,
    sealer,
    clock,
    recordChange,
  }: Pick<
    WebhookDependencies,
    'outbox' | 'sealer' | 'clock' | 'recordChange'
  >): WebhookUseCases['rotateSecret'] =>
  async (account, by = unknownActor) => {
    const { url } = await getEndpoint(outbox, account)
    const secret = createWebhookSecret()
    if (!(await outbox.rotateSecret(account.id, sealer.seal(secret, account.id), overlapMs)))
      throw noWebhook()
    await recordChange(account, { action: 'webhook.secret_rotated', details: {} }, by)
    const previousSecretUntil = new Date(clock.now().getTime() + overlapMs).toISOString()
    return { webhookUrl: url, secret, previousSecretUntil }
  }
