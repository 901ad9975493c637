"""What a person does to run into the broken gift card of the demo's sample shop, and what it says."""

MESSAGE = "TypeError: Cannot read properties of undefined (reading 'amount')"
STEPS = [
    "Opened /",
    "Clicked radio button “Gift card”",
    "Reloaded /",
    "Clicked button “Add Arc floor lamp to the cart”",
    "Clicked link “Cart 1”",
    "Opened /cart",
    "Typed 1–10 characters into “Gift card”",
    "Clicked button “Apply gift card”",
    "Submitted form “Gift card Apply gift card”",
]
