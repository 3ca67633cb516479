import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'

interface PageProps {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
}

/** What stands between header and footer; sets the title of the document. */
export const Page = ({ title, lead, actions, children }: PageProps) => {
  useEffect(() => {
    document.title = `${title} · quittance`
  }, [title])
  return (
    <>
      <div class="page-head">
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          {lead === undefined ? null : <p class="lead">{lead}</p>}
        </div>
        {actions === undefined ? null : <div class="actions">{actions}</div>}
      </div>
      {children}
    </>
  )
}

interface CardProps {
  readonly title: string
  readonly actions?: ComponentChildren
  /** `receipt` has a torn edge: for one payment, or one document. */
  readonly form?: 'card' | 'receipt'
  readonly children: ComponentChildren
}

export const Card = ({ title, actions, form = 'card', children }: CardProps) => {
  const id = useId()
  return (
    <section class={form} aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}

/** Instead of a list without entries: says why, and what to do. */
export const Empty = ({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children}
  </div>
)

/** Lines of names and values, with dots between them as on a receipt. */
export const Facts = ({ children }: { readonly children: ComponentChildren }) => (
  <dl class="facts">{children}</dl>
)

export const Fact = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
