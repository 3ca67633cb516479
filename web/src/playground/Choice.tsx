interface ChoiceProps {
  readonly label: string
  readonly options: readonly string[]
  readonly chosen: string
  readonly onChoose: (option: string) => void
}

/** One of a few, as buttons. */
export const Choice = ({ label, options, chosen, onChoose }: ChoiceProps) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form
  <div class="choice" role="group" aria-label={label}>
    {options.map((option) => (
      <button key={option} type="button" aria-pressed={option === chosen} onClick={() => onChoose(option)}>
        {option}
      </button>
    ))}
  </div>
)
