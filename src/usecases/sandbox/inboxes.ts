import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { SandboxInbox, SandboxInboxes } from '../../ports/sandboxInboxes.js'
import type { CreatedInbox } from '../../protocol/scenarios.js'
import { formatInboxUrl } from './inboxTransport.js'
import type { SandboxUseCases } from './useCases.js'

const inboxLifetimeMs = 86_400_000

export interface InboxUseCases extends Pick<SandboxUseCases, 'createInbox' | 'readInbox'> {
  createFor(failures: number): Promise<CreatedInbox>
}

export const createInboxUseCases = (inboxes: SandboxInboxes, clock: Clock): InboxUseCases => {
  const createFor = async (failures: number) =>
    view(await inboxes.create({ failures, expiresAt: new Date(clock.now().getTime() + inboxLifetimeMs) }))
  return {
    createFor,
    createInbox: (request) => createFor(request?.failures ?? 0),
    readInbox: async (id) => {
      const inbox = await inboxes.find(id)
      if (inbox === null) throw new AppError('NOT_FOUND', 'There is no such inbox, or it expired')
      const messages = await inboxes.listMessages(id)
      return {
        ...view(inbox),
        messages: messages.map(({ receivedAt, ...rest }) => ({
          ...rest,
          receivedAt: receivedAt.toISOString(),
        })),
      }
    },
  }
}

const view = ({ id, failuresLeft, expiresAt }: SandboxInbox): CreatedInbox => ({
  id,
  url: formatInboxUrl(id),
  failuresLeft,
  expiresAt: expiresAt.toISOString(),
})
