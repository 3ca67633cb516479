import type {
  AdvanceRequest,
  CreatedInbox,
  InboxRequest,
  InboxView,
  SandboxAddressList,
  SandboxPayment,
  ScenarioRequest,
  ScenarioView,
} from '../../protocol/sandbox.js'

export interface SandboxUseCases {
  listAddresses(): SandboxAddressList
  /** A new payment of a fixed payer, by its name, or of any address of the network. Throws INVALID_REQUEST. */
  createPayment(query: { readonly payer: string; readonly network: string }): SandboxPayment
  /**
   * Throws INVALID_REQUEST for a network that the sandbox has not, RATE_LIMITED while a holder has its share, and
   * SERVICE_UNAVAILABLE while the sandbox is full.
   */
  createScenario(request: ScenarioRequest, holders: readonly string[]): Promise<ScenarioView>
  /** Throws NOT_FOUND. */
  getScenario(id: string): Promise<ScenarioView>
  /** Settlements and webhooks of the scenario that became due are done when it returns. Throws NOT_FOUND. */
  advanceClock(request: AdvanceRequest): Promise<ScenarioView>
  createInbox(request: InboxRequest): Promise<CreatedInbox>
  /** Throws NOT_FOUND. */
  readInbox(id: string): Promise<InboxView>
}
