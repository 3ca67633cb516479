import type { Account, Actor } from '../../ports/accountStore.js'
import type { Recipient } from '../../ports/recipients.js'
import type {
  DeletedRecipient,
  RecipientDraft,
  RecipientList,
  RecipientMessage,
  RecipientView,
  SignedRecipient,
} from '../../protocol/recipients.js'

/** Where the request was sent: the message that a wallet signs names it. */
export interface ServiceAddress {
  readonly host: string
  /** The client requested the recipients with it. */
  readonly url: string
}

export interface RecipientUseCases {
  /** Throws INVALID_REQUEST. */
  writeMessage(account: Account, draft: RecipientDraft, at: ServiceAddress): RecipientMessage
  /**
   * Throws SIGN_IN_FAILED if the wallet of `payTo` has not signed the message, FORBIDDEN if the operator's configuration
   * states something for the recipient.
   */
  stateRecipient(
    account: Account,
    signed: SignedRecipient,
    context: { readonly at: ServiceAddress; readonly by: Actor },
  ): Promise<RecipientView>
  listRecipients(account: Account): Promise<RecipientList>
  /** Throws NOT_FOUND for a recipient of which the account has stated nothing. */
  deleteRecipient(account: Account, recipient: Recipient, by: Actor): Promise<DeletedRecipient>
}
