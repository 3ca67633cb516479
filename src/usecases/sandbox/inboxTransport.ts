import type { SandboxInboxes } from '../../ports/sandboxInboxes.js'
import type { WebhookTransport } from '../../ports/webhookTransport.js'

// RFC 2606: never a host of the internet.
const inboxHost = 'inbox.sandbox.test'

const inboxUrl = /^https:\/\/inbox\.sandbox\.test\/([0-9a-f-]{36})$/

export const formatInboxUrl = (id: string): string => `https://${inboxHost}/${id}`

/** Webhooks to inboxes stay in the service; all others leave as ever. */
export const createInboxTransport = (
  inboxes: Pick<SandboxInboxes, 'receive'>,
  others: WebhookTransport,
): WebhookTransport => ({
  findUrlProblem: (url) => (inboxUrl.test(url) ? null : others.findUrlProblem(url)),
  post: async (message, stopped) => {
    const id = inboxUrl.exec(message.url)?.[1]
    if (id === undefined) return await others.post(message, stopped)
    const status = await inboxes.receive(id, message)
    return status === null
      ? { status: null, error: 'The inbox of the sandbox expired' }
      : { status, error: null }
  },
})
