// The phone is asked where it is when its person presses the button, and the form takes the answer along.

const form = document.querySelector("form");
const button = form.querySelector("button");
const problem = document.querySelector("#problem");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  problem.hidden = true;
  if (!navigator.geolocation) return fail({ code: 1 });
  button.disabled = true;
  navigator.geolocation.getCurrentPosition(tell, fail, { enableHighAccuracy: true, timeout: 30_000 });
});

function tell({ coords }) {
  form.elements.latitude.value = coords.latitude.toFixed(6);
  form.elements.longitude.value = coords.longitude.toFixed(6);
  form.elements.accuracy.value = Math.min(coords.accuracy, 100_000).toFixed(1);
  form.submit(); // without the event above
}

// https://www.w3.org/TR/geolocation/#position_error_interface: 1 is what the person or the browser denied.
function fail({ code }) {
  button.disabled = false;
  problem.textContent = code === 1 ? problem.dataset.denied : problem.dataset.unknown;
  problem.hidden = false;
}

// A page that is shown again from the browser's memory must ask again.
addEventListener("pageshow", () => {
  button.disabled = false;
});
