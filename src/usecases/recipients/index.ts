import { AppError } from '../../errors.js'
import type { Sealer } from '../../ports/accountStore.js'
import type { MailChange } from '../dashboard/mails.js'
import { createNonces } from '../siwx/nonces.js'
import type { RecipientUseCases } from '../useCases.js'
import {
  createStateRecipient,
  createWriteMessage,
  findRecipient,
  type StateRecipientDependencies,
  viewStatement,
} from './stateRecipient.js'

interface RecipientsDependencies extends Omit<StateRecipientDependencies, 'nonces'> {
  /** For the purpose `sign-in-nonce`. */
  readonly sealer: Pick<Sealer, 'fingerprint' | 'fingerprints'>
  readonly mailChange: MailChange
}

export const createRecipients = (
  dependencies: RecipientsDependencies,
): { readonly useCases: RecipientUseCases } => {
  const { registry, statements, findConfigured, mailChange } = dependencies
  const shared = { ...dependencies, nonces: createNonces(dependencies.sealer) }
  const stateRecipient = createStateRecipient(shared)
  return {
    useCases: {
      writeMessage: createWriteMessage(shared),
      stateRecipient: async (account, signed, context) => {
        const stated = await stateRecipient(account, signed, context)
        mailChange(account, 'recipient.stated', context.by)
        return stated
      },
      listRecipients: async ({ id }) => ({
        recipients: (await statements.list(id)).map((each) =>
          viewStatement(each, findConfigured(each) !== null),
        ),
      }),
      deleteRecipient: async (account, named, by) => {
        const { scheme, payTo } = findRecipient(registry, named)
        const { network } = scheme.kind
        if (!(await statements.delete(account.id, { network, payTo }, by))) {
          throw new AppError('NOT_FOUND', 'The project has stated nothing for this recipient')
        }
        mailChange(account, 'recipient.deleted', by)
        return { network, payTo, deleted: true }
      },
    },
  }
}
